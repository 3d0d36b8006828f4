package sqltext

import "strings"

// builtins are the servers' own functions that only compute, and the words which look like a function's name before
// parentheses. pg_sleep is none of them, nor is nextval: what a statement does with them is work.
var builtins = set(`
	abs age any_value array_agg array_append array_cat array_length array_position array_remove array_to_string ascii avg
	bit bit_length bool_and bool_or btrim cardinality cast ceil ceiling char char_length character_length chr
	clock_timestamp coalesce concat concat_ws convert convert_from convert_to count crc32 current_database current_date
	current_query current_role current_schema current_schemas current_setting current_time current_timestamp current_user
	database date date_add date_part date_trunc dateadd datediff dbms_utility decimal decode dense_rank digest div encode
	every exists extract filter first_value float floor format from_unixtime gen_random_uuid generate_series generate_subscripts
	get_byte greatest getdate grouping has_table_privilege hash_record hash_record_extended hashbigint hashbytes hashchar hashint2
	hashint4 hashint8 hashtext hashtextextended hashuuid hex host if ifnull inet_server_addr inet_server_port initcap insert
	is_free_lock is_used_lock isfinite isnull json_agg json_array_elements json_array_elements_text json_build_array
	json_build_object json_each json_extract json_object_agg jsonb_agg jsonb_array_elements jsonb_array_elements_text
	jsonb_build_array jsonb_build_object jsonb_each jsonb_object_agg jsonb_to_recordset json_to_recordset json_table lag last_value
	lcase lead least length ln localtime localtimestamp log lower lpad ltrim make_date make_interval make_timestamp max md5 min mod
	now ntile nullif num_nonnulls num_nulls number numeric nvarchar nvl nvl2 object_id octet_length ora_hash over overlay percentile_cont
	percentile_disc pg_backend_pid pg_blocking_pids pg_collation_for pg_current_xact_id pg_current_xact_id_if_assigned
	pg_is_in_recovery pg_postmaster_start_time pg_typeof position power quote_ident quote_literal rand random rank regexp_match
	regexp_matches regexp_replace regexp_split_to_table replace reverse round row row_number row_to_json rpad rtrim scope_identity sha1 sha2 sha224
	sha256 sha384 sha512 sign split_part sqrt statement_timestamp string_agg string_to_array string_to_table strpos substr
	substring sum sys_context sysdate sysdatetime systimestamp time timestamp timestamptz to_char to_date to_hex to_json to_jsonb
	to_number to_regclass to_timestamp transaction_timestamp translate trim trunc txid_current txid_current_if_assigned
	txid_current_snapshot ucase unhex unix_timestamp unnest upper user uuid uuid_generate_v4 uuid_generate_v5 varchar varchar2 version
	width_bucket xmlagg
`)

// constants are the words that are values without parentheses.
var constants = set("current_catalog current_date current_role current_schema current_time current_timestamp current_user default " +
	"localtime localtimestamp session_user sysdate systimestamp user")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// harmless reports whether a function of this name only computes.
func (p *parser) harmless(pa path) bool {
	for i := pa.first; i < pa.end; i++ {
		if p.toks[i].tainted {
			return false
		}
	}
	return builtins[p.name(pa.last)] && (pa.first == pa.last || p.name(pa.first) == "pg_catalog")
}

-- one at a time
SELECT pg_advisory_lock($1)

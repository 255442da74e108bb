-- Bytes of asynchronous operations in flight over time: after each step at which the number
-- changes, how many bytes have been issued and not signalled, and of how many operations.
WITH
  op AS (
    SELECT ts, dur, EXTRACT_ARG(arg_set_id, 'debug.bytes') AS bytes
    FROM slice
    WHERE category = 'operation'
  ),
  change AS (
    SELECT ts, bytes, 1 AS n FROM op
    UNION ALL
    SELECT ts + dur, -bytes, -1 FROM op
  ),
  net AS (
    SELECT ts, SUM(bytes) AS bytes, SUM(n) AS n FROM change GROUP BY ts
  )
SELECT
  ts / 1000 + 1 AS step,
  SUM(bytes) OVER (ORDER BY ts) AS bytes,
  SUM(n) OVER (ORDER BY ts) AS operations
FROM net
WHERE n != 0 OR bytes != 0
ORDER BY ts;

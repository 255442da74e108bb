-- The longest waits of each warp: what it waited for, for how many steps, and what ended it.
-- A step of the schedule is 1 µs of the trace, so dur / 1000 counts steps.
SELECT
  cta.name AS cta,
  warp.name AS warp,
  wait.name AS wait,
  wait.dur / 1000 AS steps,
  wait.ts / 1000 + 1 AS from_step,
  EXTRACT_ARG(wait.arg_set_id, 'debug.completed_by') AS completed_by,
  EXTRACT_ARG(wait.arg_set_id, 'debug.ended') AS ended
FROM slice AS wait
JOIN track AS row ON row.id = wait.track_id
JOIN track AS warp ON warp.id = row.parent_id
JOIN track AS cta ON cta.id = warp.parent_id
WHERE wait.category = 'wait'
ORDER BY wait.dur DESC, wait.ts, warp.id
LIMIT 20;

-- Which mbarrier's phases are waited for most: phases, waits, steps that warps spent in them,
-- and the phase that cost the most.
WITH
  wait AS (
    SELECT
      EXTRACT_ARG(arg_set_id, 'debug.barrier') AS barrier,
      EXTRACT_ARG(arg_set_id, 'debug.phase') AS phase,
      dur / 1000 AS steps
    FROM slice
    WHERE category = 'wait'
  ),
  phase AS (
    SELECT barrier, phase, COUNT(*) AS waits, SUM(steps) AS steps
    FROM wait
    WHERE barrier IS NOT NULL
    GROUP BY barrier, phase
  ),
  had AS (
    SELECT EXTRACT_ARG(arg_set_id, 'debug.barrier') AS barrier, COUNT(*) AS phases
    FROM slice
    WHERE category = 'phase'
    GROUP BY barrier
  )
SELECT
  had.barrier,
  had.phases,
  COALESCE(SUM(phase.waits), 0) AS waits,
  COALESCE(SUM(phase.steps), 0) AS steps,
  (SELECT p.phase FROM phase AS p WHERE p.barrier = had.barrier ORDER BY p.steps DESC, p.phase LIMIT 1) AS worst_phase,
  MAX(phase.steps) AS worst_steps
FROM had
LEFT JOIN phase ON phase.barrier = had.barrier
GROUP BY had.barrier
ORDER BY steps DESC, had.barrier;

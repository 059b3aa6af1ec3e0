/**
 * Runs in a process of its own: reads its limits (memory in MB, time in ms) and one question from its input, writes the
 * answer as one line. Whoever started it ends it: the solver's threads would keep it alive.
 */
import { readFileSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const INPUT = 0;
const OUTPUT = 1;

try {
  const [limits = '', ...question] = readFileSync(INPUT, 'utf8').split('\n');
  const [memoryMb = '', timeoutMs = ''] = limits.split(' ');
  writeSync(OUTPUT, `${await solve(question.join('\n'), memoryMb, timeoutMs)}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const absent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  const line = absent
    ? 'absent: install the package z3-solver, or put a z3 on PATH'
    : `(error ${message.replaceAll('\n', ' ')})`;
  writeSync(OUTPUT, `${line}\n`);
}

async function solve(question: string, memoryMb: string, timeoutMs: string): Promise<string> {
  const { init } = await import('z3-solver');
  const { Z3 } = await init();
  Z3.global_param_set('memory_max_size', memoryMb);
  Z3.global_param_set('timeout', timeoutMs);
  const config = Z3.mk_config();
  const context = Z3.mk_context(config);
  const startedAt = performance.now();
  const output = await Z3.eval_smtlib2_string(context, question);
  const answer = output.trim().split('\n')[0] ?? '';
  if (answer !== 'unknown') return answer;
  const tookMs = performance.now() - startedAt;
  const why = await Z3.eval_smtlib2_string(context, '(get-info :reason-unknown)');
  if (/memout|memory/.test(why)) return 'out of memory';
  // Z3 does not always name the timeout as the reason when it stops a strategy because of it.
  return /cancel|timeout/.test(why) || tookMs >= Number(timeoutMs) ? 'timeout' : answer;
}

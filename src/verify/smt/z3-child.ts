/**
 * The main module of the solver process. It reads its limits (memory in MB, time in ms) and one query from stdin, and
 * writes the answer as one line. The parent process must kill it, because the threads of the solver keep it alive.
 */
import { readFileSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const INPUT = 0;
const OUTPUT = 1;

try {
  const [limits = '', ...query] = readFileSync(INPUT, 'utf8').split('\n');
  const [memoryMb = '', timeoutMs = ''] = limits.split(' ');
  writeSync(OUTPUT, `${await solve(query.join('\n'), memoryMb, timeoutMs)}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const absent = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  const line = absent
    ? 'absent: install the package z3-solver, or put a z3 on PATH'
    : `(error ${message.replaceAll('\n', ' ')})`;
  writeSync(OUTPUT, `${line}\n`);
}

async function solve(query: string, memoryMb: string, timeoutMs: string): Promise<string> {
  const { init } = await import('z3-solver');
  const { Z3 } = await init();
  Z3.global_param_set('memory_max_size', memoryMb);
  Z3.global_param_set('timeout', timeoutMs);
  const config = Z3.mk_config();
  const context = Z3.mk_context(config);
  const startedAt = performance.now();
  const output = await Z3.eval_smtlib2_string(context, query);
  const answer = output.trim().split('\n')[0] ?? '';
  if (answer !== 'unknown') return answer;
  const elapsedMs = performance.now() - startedAt;
  const reason = await Z3.eval_smtlib2_string(context, '(get-info :reason-unknown)');
  if (/memout|memory/.test(reason)) return 'out of memory';
  // Z3 does not always report a timeout as the reason when it stops a strategy because of it.
  return /cancel|timeout/.test(reason) || elapsedMs >= Number(timeoutMs) ? 'timeout' : answer;
}

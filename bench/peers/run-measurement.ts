import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ColumnName, Measured } from './columns.ts';

/** No package reports its use or sends traces, and none prints. */
const environment = {
  NODE_ENV: 'production',
  NODE_NO_WARNINGS: '1',
  AI_SDK_LOG_WARNINGS: 'false',
  DO_NOT_TRACK: '1',
  LANGSMITH_TRACING: 'false',
  LANGCHAIN_TRACING_V2: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  OTEL_SDK_DISABLED: 'true',
};

/** Measures one column of one peer in a process of its own. Null if the peer has nothing to measure there. @throws Error with what the process printed */
export async function runMeasurement(
  peer: string,
  column: ColumnName,
  { quick }: { readonly quick: boolean },
): Promise<Measured | null> {
  const program = join(import.meta.dirname, 'measure.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', program, peer, column, ...(quick ? ['quick'] : [])],
    { env: { ...process.env, ...environment }, timeout: 300_000, maxBuffer: 100_000_000 },
  );
  const line = stdout.split('\n').find((one) => one.startsWith('measured: '));
  if (line === undefined) throw new Error(`${peer}, ${column}: printed no figures.`);
  return JSON.parse(line.slice('measured: '.length)) as Measured | null;
}

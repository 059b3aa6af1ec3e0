import type { ActiveLiveSession } from '../live/active-live-session.ts';
import type { FunctionToolContext } from './function-tool-context.ts';

/** The first result of a streaming tool in a live session. */
export const STREAM_STARTED = 'The function is running asynchronously and the results are pending.';

/** True for `async function*`. */
export function isAsyncGeneratorFunction(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object AsyncGeneratorFunction]';
}

/** The function of a tool, and the live session that its session has in this process. */
export interface FunctionToolRun {
  readonly execute: (context: FunctionToolContext) => unknown;
  readonly context: FunctionToolContext;
  readonly toolName: string;
  readonly live: ActiveLiveSession | undefined;
}

/** Runs a function tool. In a live session at most `maxWorkers` run at once. */
export async function runFunctionTool({
  execute,
  context,
  live,
}: FunctionToolRun): Promise<unknown> {
  return live === undefined ? execute(context) : live.runTool(async () => execute(context));
}

/**
 * Runs a streaming tool. In a live session it continues in the background, and its first result says so. Elsewhere it runs
 * to its end, and its last value is the result.
 */
export async function runStreamingTool(options: FunctionToolRun): Promise<unknown> {
  const { execute, context, toolName, live } = options;
  const { callId, agentName } = context;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `execute` is an async generator function
  const start = (own: FunctionToolContext): AsyncGenerator => execute(own) as AsyncGenerator;
  if (live !== undefined) {
    const run = (stream: Pick<FunctionToolContext, 'signal' | 'inputStream'>): AsyncGenerator =>
      start({ ...context, ...stream });
    live.startStream({ toolName, callId, agentName, run });
    return { status: STREAM_STARTED };
  }
  let last: unknown;
  for await (const value of start(context)) last = value;
  return last;
}

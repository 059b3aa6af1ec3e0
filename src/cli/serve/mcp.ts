import { serveMcpStdio } from '../../server/index.ts';
import { openStore } from '../../store/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { EXIT_OK, type ExitCode } from '../command/exit-code.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';
import { UsageError } from '../command/usage-error.ts';
import { assertKnownModels } from './check-served-agents.ts';
import { createErrorOutput, openServedRuntime } from './open-served-runtime.ts';
import { toStoreOptions, type ServedCall } from './serve-options.ts';
import { loadServedAgents } from './served-agents.ts';

/**
 * Serves agents to the MCP client that started this program, until the client ends or a signal comes.
 * @throws UsageError without a file; the errors of loading it and of opening the store
 */
export async function serveMcp(call: ServedCall): Promise<ExitCode> {
  const { operands, values, cwd, clock, stdin, stdout, signals } = call;
  const [file] = operands;
  if (file === undefined) throw new UsageError('Name the file with the agents.', 'mcp');
  const served = await loadServedAgents(file, cwd);
  assertKnownModels(file, served.definitions);
  const store = await openStore(values.store ?? DEFAULT_STORE, toStoreOptions(values));
  const onError = createErrorOutput(call);
  try {
    const plan = { file, served, store, observers: [], onError };
    await using runtime = await openServedRuntime(call, plan);
    const options = { runtime, store, clock, input: stdin, output: stdout, onError };
    const connection = await serveMcpStdio(options);
    const { promise: stopRequested, resolve: stop } = Promise.withResolvers<void>();
    const listened: readonly Signal[] = ['SIGINT', 'SIGTERM'];
    const onSignal = (): void => stop();
    for (const signal of listened) signals.on(signal, onSignal);
    try {
      await Promise.race([connection.ended, stopRequested]);
      await connection.close();
    } finally {
      for (const signal of listened) signals.off(signal, onSignal);
    }
  } finally {
    await store.close();
  }
  return EXIT_OK;
}

// A process that runs a custom agent until it is killed between two of its yields. Argument: its folder.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScriptedModel } from '../../src/models/index.ts';
import { BaseAgent, LlmAgent, Runner, SqliteSessionService } from '../../src/adk/index.ts';
import type { AgentYield } from '../../src/adk/index.ts';

export const address = { appName: 'demo', userId: 'u1', sessionId: 's1' } as const;

/**
 * The runner of both processes. Its agent writes state by a yield and through the context, and then transfers the
 * turn.
 */
export function openCustomRunner(
  folder: string,
  hold: () => Promise<void>,
): { readonly runner: Runner; readonly service: SqliteSessionService } {
  class Desk extends BaseAgent {
    protected override async *runAsyncImpl(
      context: Parameters<BaseAgent['runAsync']>[0],
    ): AsyncGenerator<AgentYield, void, never> {
      appendFileSync(join(folder, 'runs'), 'run\n');
      yield { actions: { stateDelta: { stage: 'begun' } } };
      context.state.increment('count');
      yield { actions: { stateDelta: { stage: 'counted' }, skipSummarization: true } };
      context.state.increment('count');
      await hold();
      yield {
        content: { role: 'model', parts: [{ text: `At ${String(context.state.get('count'))}.` }] },
        actions: { transferToAgent: 'clerk' },
      };
    }
  }
  const model = new ScriptedModel(() => ({ text: 'Taken over.' }));
  const service = new SqliteSessionService(join(folder, 'sessions.db'));
  const agent = new Desk({ name: 'desk', subAgents: [new LlmAgent({ name: 'clerk', model })] });
  return { service, runner: new Runner({ appName: 'demo', agent, sessionService: service }) };
}

const [, script, folder] = process.argv;
if (script === import.meta.filename && folder !== undefined) {
  const alive = setInterval(() => undefined, 1000);
  const { runner, service } = openCustomRunner(folder, async () => {
    process.send?.('held');
    await new Promise<void>(() => undefined);
  });
  await service.createSession(address);
  for await (const { invocationId } of runner.runAsync({ ...address, newMessage: 'Go' }))
    process.send?.({ invocationId });
  clearInterval(alive);
}

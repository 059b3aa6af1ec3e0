// A process that runs agents which call each other. It reports when a call waits, and can kill itself.
import { isChildSessionId } from '../../src/core/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { payingAgents } from './called-agents.ts';

const [database = '', dies = ''] = process.argv.slice(2);

const runtime = await openRuntime({
  agents: [payingAgents(() => {})],
  store: `sqlite:${database}`,
  observers: [
    ({ key, events }) => {
      if (dies !== 'when a called agent is done' || !isChildSessionId(key.sessionId)) return;
      if (events.some(({ type }) => type === 'turn.ended')) process.kill(process.pid, 'SIGKILL');
    },
  ],
});
const session = await runtime.session('work');
if ((await session.status()).lastSeq === 0) for await (const _ of session.send('Go')) void _;
process.send?.('waits');
if (dies === 'when a called agent is done') {
  const [call] = await session.pending();
  if (call !== undefined) await session.approve(call.id).accepted;
}
setInterval(() => {}, 1000);

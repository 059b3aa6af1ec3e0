/** Hosts the session in a process of its own, until it is told to close, or killed. */
import { openRuntime } from 'petrichor';
import { writer } from './agent.ts';
import { Folder } from './folder.ts';
import type { HostCommand, Paths, HostMessage } from './messages.ts';
import type { Point } from './tools.ts';

const [paths, fromSeq]: [Paths, number] = JSON.parse(process.argv[2] ?? '[]');
const waiting = new Map<string, () => void>();

const agent = writer({ ...paths, folder: await Folder.at(paths.root), reached });
const runtime = await openRuntime({ agents: [agent], store: `sqlite:${paths.database}` });
const session = await runtime.session('demo', { agent: agent.name });

process.on('message', (order: HostCommand) => {
  if ('say' in order) session.send(order.say);
  else if ('approve' in order) session.approve(order.approve);
  else if ('deny' in order) session.deny(order.deny, { message: order.message });
  else if ('goOn' in order) waiting.get(order.goOn)?.();
  else void runtime.close().then(() => process.disconnect());
});

for await (const event of session.events(fromSeq)) {
  if (event.type === 'partial' || event.type === 'partial.reset') continue;
  sendToParent({ event });
  if (event.type === 'turn.waiting') sendToParent({ pending: await session.pending() });
}

async function reached(point: Point): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.set(point.callId, resolve);
  sendToParent({ reached: point });
  await promise;
}

function sendToParent(message: HostMessage): void {
  process.send?.(message);
}

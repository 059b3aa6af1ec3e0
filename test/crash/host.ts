/** A child process that hosts sessions, executes the commands of its parent, and kills itself at a failpoint. */
import { contentText } from '../../src/core/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session } from '../../src/runtime/index.ts';
import { openStore } from '../../src/store/index.ts';
import { variants } from './agents.ts';
import type { Failpoint, HostOptions, HostCommand, HostMessage } from './host-messages.ts';
import { SideEffects } from './side-effects.ts';

const options: HostOptions = JSON.parse(process.argv[2] ?? '{}');
const effects = new SideEffects(options.effects, options.run);
const held = new Map<string, () => void>();
let failpoint: Failpoint | undefined = options.failpoint;
let passed = 0;

sendToParent({ ready: true });

const store = await openStore(`sqlite:${options.database}`, {
  failpoints: {
    beforeCommit: () => pass('before-commit'),
    afterCommit: () => pass('after-commit'),
  },
});
const variant = variants[options.variant];
if (variant === undefined) throw new Error(`Unknown agent variant "${options.variant}".`);
const agent = variant({
  note: (effect) => {
    effects.note(effect);
    pass(effect.what === 'began' ? 'tool-began' : 'tool-did');
  },
  hold: async (text, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    held.set(text, resolve);
    signal.addEventListener('abort', () => reject(new Error('aborted')));
    sendToParent({ holding: text });
    await promise;
  },
  exit: () => process.exit(7),
});
const runtime = await openRuntime({ agents: [agent], store });

process.on('message', (message: { readonly id: number; readonly command: HostCommand }) => {
  executeCommand(message.command).then(
    (value) => sendToParent({ reply: message.id, value: value ?? null }),
    (error: unknown) => sendToParent({ reply: message.id, error: toErrorJson(error) }),
  );
});
sendToParent({ ready: true });

async function executeCommand(command: HostCommand): Promise<unknown> {
  switch (command.do) {
    case 'open':
      return void (await runtime.session(command.session));
    case 'find':
      return (await runtime.find(command.session)) !== undefined;
    case 'pending':
      return (await get(command.session)).pending();
    case 'status':
      return (await get(command.session)).status();
    case 'log':
      return readLog(await get(command.session));
    case 'idle':
      return untilIdle(await get(command.session));
    case 'watch':
      return void watch(await get(command.session), command.from);
    case 'send': {
      const { requests, messageId } = command;
      return (await get(command.session)).send(JSON.stringify(requests), { messageId }).accepted;
    }
    case 'approve':
      return (await get(command.session)).approve(command.callId).accepted;
    case 'inject': {
      const { place, value } = command;
      return (await get(command.session)).inject(place, value, { dedupeKey: value });
    }
    case 'work':
      return work(await runtime.session(command.session), command.from, command.to);
    case 'arm':
      passed = 0;
      return void (failpoint = command.failpoint);
    case 'release':
      return void held.get(command.text)?.();
    case 'close':
      await runtime.close();
      await store.close();
      setImmediate(() => process.disconnect());
      return undefined;
    default:
      return command satisfies never;
  }
}

/** Gets an existing session without claiming it. */
async function get(id: string): Promise<Session> {
  const session = await runtime.find(id);
  if (session === undefined) throw new Error(`Session "${id}" does not exist.`);
  return session;
}

/** Sends messages `from` to `to`, approves pending calls, and resolves when all messages are answered. */
async function work(session: Session, from: number, to: number): Promise<void> {
  const approving = new AbortController();
  const approvals = approveAll(session, approving.signal);
  for (let n = from; n <= to; n++) {
    const messageId = `${session.id}-m${n}`;
    const text = JSON.stringify([
      { name: 'note', text: messageId },
      { name: 'pay', text: messageId },
    ]);
    const turn = session.send(text, { messageId });
    await turn.accepted;
    sendToParent({ accepted: messageId, session: session.id });
    // Every other message is sent while the previous one is still being answered.
    if (n % 2 === 1) await untilAnswered(session, messageId);
  }
  await untilIdle(session);
  approving.abort();
  await approvals;
}

async function approveAll(session: Session, signal: AbortSignal): Promise<void> {
  const { lastSeq } = await session.status();
  for (const { callId } of await session.pending()) await approve(session, callId);
  for await (const event of session.events(lastSeq, { signal })) {
    if (event.type !== 'turn.waiting') continue;
    for (const callId of event.callIds) await approve(session, callId);
  }
}

async function approve(session: Session, callId: string): Promise<void> {
  try {
    await session.approve(callId).accepted;
  } catch (error) {
    const { code } = toErrorJson(error);
    if (code !== 'already_answered' && code !== 'call_not_pending') throw error;
  }
}

async function untilAnswered(session: Session, messageId: string): Promise<void> {
  let invocationId: string | undefined;
  for await (const event of session.events()) {
    if (event.type === 'user.message' && event.messageId === messageId) ({ invocationId } = event);
    if (event.type === 'turn.ended' && event.invocationId === invocationId) return;
  }
}

async function untilIdle(session: Session): Promise<void> {
  const isIdle = async (): Promise<boolean> => {
    const { status, inboxPending } = await session.status();
    return status === 'idle' && !inboxPending;
  };
  if (await isIdle()) return;
  for await (const event of session.events((await session.status()).lastSeq - 1)) {
    if (event.type === 'turn.ended' && (await isIdle())) return;
  }
}

async function watch(session: Session, from: number): Promise<void> {
  for await (const event of session.events(from))
    if ('seq' in event) sendToParent({ event, session: session.id });
}

async function readLog(session: Session): Promise<readonly string[]> {
  const log: string[] = [];
  for await (const event of session.events(0, { follow: false }))
    log.push(event.type === 'agent.message' ? contentText(event.content) : event.type);
  return log;
}

/** Kills the process if this is its failpoint. No other code of the process runs after that. */
function pass(point: Failpoint['point']): void {
  if (failpoint?.point !== point || ++passed !== failpoint.nth) return;
  process.kill(process.pid, 'SIGKILL');
  for (;;) {
    // The signal arrives soon, but only after the call returns.
  }
}

function toErrorJson(error: unknown): {
  code: string;
  message: string;
  places?: readonly string[];
} {
  const { code, message, places } = Object(error);
  return { code: String(code), message: String(message), ...(places !== undefined && { places }) };
}

function sendToParent(message: HostMessage): void {
  process.send?.(message);
}

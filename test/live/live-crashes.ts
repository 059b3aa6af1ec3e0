import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import * as z from 'zod';
import { conversation } from '../../src/agents/index.ts';
import type { ConversationItem } from '../../src/agents/index.ts';
import { LiveHub, liveAgent, ScriptedLive } from '../../src/live/index.ts';
import type { LiveScript } from '../../src/live/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { listIn, SimulatedClock } from '../../src/net/index.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime, Session, SessionAttachment } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { KillableStore, SimulatedProcess } from '../crash/killable-store.ts';
import type { CrashPoint } from '../crash/killable-store.ts';
import { crashAtEach } from './crash-at-each.ts';
import { describeEvent, SimulatedCall } from './simulated-call.ts';

/** The result of two spoken turns, the first with a tool. */
export interface LiveOutcome {
  readonly log: readonly string[];
  readonly conversation: readonly string[];
  /** The number of tokens by place. A crash costs connections, so the budget is left out. */
  readonly marking: Readonly<Record<string, number>>;
  /** How often the tool began. */
  readonly began: number;
  /** Each piece of audio that a client received, by reply. */
  readonly played: readonly string[];
  /** The calls whose results a model was sent. */
  readonly sent: readonly string[];
  /** How many processes crashed. */
  readonly deaths: number;
  readonly records: number;
}

/** Who has the conversation in one process. */
export interface Talker {
  readonly say: (ms: number) => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
  readonly log: () => Promise<readonly string[]>;
}

/** What a process has for its talker. */
export interface TalkerProcess {
  readonly hub: LiveHub;
  readonly runtime: Runtime;
  readonly session: Session;
  readonly clock: SimulatedClock;
  /** Called with each piece of audio that a client received or played. */
  readonly onFrame: (frame: string) => void;
}

const pays = { heard: 'Pay Ann.', toolCalls: [{ id: 'c1', name: 'pay', args: { to: 'Ann' } }] };
// A reply that a crash has lost is not repeated: the server has said it, and says the next.
const thanks = Array.from({ length: 6 }, () => ({ heard: 'Thanks.', text: 'You are welcome.' }));
const script: LiveScript = { turns: [pays, { text: 'It is paid.' }, ...thanks] };
const CANCEL_MS = 400;
const cancelingScript: LiveScript = {
  turns: [{ ...pays, cancelCallsAfterMs: CANCEL_MS }, ...thanks],
};
const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'x' };
const UTTERANCES = 2;
const LIMIT_MS = 120_000;

/**
 * Has a conversation of two utterances in a sequence of processes, each of which crashes at its point. The client calls
 * again after a crash, and repeats what it said if no turn has begun with it. With `cancels`, the model cancels the call of
 * the tool, which takes longer than that.
 */
export async function talkWithCrashes(
  crashes: readonly CrashPoint[],
  {
    cancels = false,
    begin = async ({ hub, session, clock, onFrame }) =>
      SimulatedCall.begin(hub, session, clock, onFrame),
  }: {
    readonly cancels?: boolean;
    readonly begin?: (process: TalkerProcess) => Promise<Talker>;
  } = {},
): Promise<LiveOutcome> {
  const store = new MemoryStore();
  const processes: SimulatedProcess[] = [];
  const played: string[] = [];
  const detachments: (() => void)[] = [];
  const models: ScriptedLive[] = [];
  let lived: Runtime | undefined;
  let began = 0;
  let deaths = 0;
  let now = 0;
  const agentFor = (
    simulated: SimulatedProcess,
    clock: SimulatedClock,
  ): ReturnType<typeof liveAgent> => {
    const pay = tool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ to: z.string() }),
      onCrash: 'unknown',
      execute: async ({ to }) => {
        await simulated.pass('tool-began');
        began++;
        if (cancels)
          await new Promise((resolve) => clock.at(clock.now() + 10 * CANCEL_MS, () => resolve(0)));
        await simulated.pass('tool-did');
        return { paid: to };
      },
    });
    const model = new ScriptedLive(cancels ? cancelingScript : script, { clock });
    models.push(model);
    return liveAgent({
      name: 'assistant',
      model,
      textModel: new ScriptedModel(() => ({ text: 'As text.' })),
      tools: [pay],
    });
  };
  for (const crashPoint of [...crashes, undefined]) {
    const simulated = new SimulatedProcess(crashPoint);
    processes.push(simulated);
    const clock = new SimulatedClock(now);
    const hub = new LiveHub();
    const attachments: SessionAttachment[] = [];
    detachments.push(() => attachments.forEach((one) => one.detach()));
    const opening = openRuntime({
      agents: [agentFor(simulated, clock)],
      store: new KillableStore(store, simulated),
      clock,
      live: {
        attach: (session) => {
          const attachment = hub.attach(session);
          attachments.push(attachment);
          return attachment;
        },
      },
    });
    opening.catch(() => {});
    const living = opening.then(async (runtime) => {
      const session = await runtime.session('x');
      const onFrame = (frame: string): void => void played.push(frame);
      const call = await begin({ hub, runtime, session, clock, onFrame });
      for (;;) {
        const turns = (await call.log()).filter((line) => line === 'turn.started').length;
        const ended = (await call.log()).filter((line) => line.startsWith('ended')).length;
        if (turns > ended) await call.pass(100);
        else if (turns < UTTERANCES) await call.say(300);
        else break;
        if (clock.now() - now > LIMIT_MS) throw new Error((await call.log()).join(', '));
      }
      await call.pass(500);
      lived = runtime;
      simulated.disarm();
      return 'lived' as const;
    });
    living.catch(() => {});
    const end = await Promise.race([living, simulated.over.then(() => 'crashed' as const)]);
    now = clock.now() + 1_000;
    if (end === 'lived') break;
    deaths++;
    for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  }
  const marking = await hydrate(store, KEY);
  const log: string[] = [];
  for await (const event of store.read(KEY)) log.push(describeEvent(event));
  for (const detach of detachments) detach();
  await lived?.close();
  for (const simulated of processes) simulated.discard();
  return {
    log,
    conversation: listIn(marking, conversation.name).items.map((item) =>
      describeItem(item as unknown as ConversationItem),
    ),
    marking: Object.fromEntries(
      [...marking.tokens]
        .filter(([place]) => place !== 'link.budget')
        .map(([place, tokens]) => [place, tokens.length]),
    ),
    began,
    played,
    sent: models.flatMap(({ commands }) =>
      commands.flatMap((command) =>
        command.kind === 'tool-result' ? command.results.map(({ callId }) => callId) : [],
      ),
    ),
    deaths,
    records: marking.seq,
  };
}

function describeItem({ content }: ConversationItem): string {
  const parts = content.parts.map((part) => {
    if ('text' in part) return part.text;
    if ('functionCall' in part) return `${part.functionCall.name}?`;
    return 'functionResponse' in part ? JSON.stringify(part.functionResponse.response) : '';
  });
  return `${content.role}: ${parts.join(' ')}`;
}

/** What no crash may change. */
export function checkOutcome(outcome: LiveOutcome, calm: LiveOutcome): void {
  const { log, conversation, played } = outcome;
  const why = `${log.join(', ')} | ${conversation.join(', ')}`;
  assert.deepEqual(outcome.marking, calm.marking, why);
  assert.ok(outcome.began <= 1, 'a tool that must not run twice ran twice');
  assert.equal(new Set(played).size, played.length, 'audio was played twice');
  assert.equal(count(log, 'turn.started'), count(log, 'ended'), why);
  for (const line of ['user: Pay Ann.', 'user: Thanks.'])
    assert.ok(conversation.includes(line), `${line} is missing: ${why}`);
  assert.equal(conversation.at(-1), 'model: You are welcome.', why);
  const calls = conversation.findIndex((line) => line === 'model: pay?');
  assert.match(conversation[calls + 1] ?? '', /^tool: /, why);
}

function count(log: readonly string[], start: string): number {
  return log.filter((line) => line.startsWith(start)).length;
}

/**
 * Crashes the conversation at any write, and before and after its tool.
 * @param stride see `crashAtEach`
 */
export async function crashConversation(t: TestContext, stride: number): Promise<void> {
  const calm = await talkWithCrashes([]);
  checkOutcome(calm, calm);
  t.diagnostic(`${calm.records} records: ${calm.conversation.join(' | ')}`);
  const points = ['before-write', 'after-write', 'tool-began', 'tool-did'] as const;
  const runs = await crashAtEach(points, stride, async (crash) => {
    const outcome = await talkWithCrashes([crash]);
    if (outcome.deaths === 0) return false;
    checkOutcome(outcome, calm);
    return true;
  });
  t.diagnostic(`${runs} crashes`);
  assert.ok(runs > 30 / stride, `${runs}`);
}

/**
 * Crashes the conversation in which the model cancels a call, at any write.
 * @param stride see `crashAtEach`
 */
export async function crashCanceled(t: TestContext, stride: number): Promise<void> {
  const calm = await talkWithCrashes([], { cancels: true });
  checkOutcome(calm, calm);
  assert.ok(wasCanceled(calm));
  let canceled = 0;
  const runs = await crashAtEach(['before-write', 'after-write'], stride, async (crash) => {
    const outcome = await talkWithCrashes([crash], { cancels: true });
    if (outcome.deaths === 0) return false;
    if (wasCanceled(outcome)) canceled++;
    checkOutcome(outcome, calm);
    assert.ok(!wasCanceled(outcome) || outcome.sent.length === 0, 'a canceled result was sent');
    return true;
  });
  t.diagnostic(`${runs} crashes, ${canceled} with the cancellation`);
  // A cancellation that was not written is lost with its connection.
  // A sample may have none of these few.
  const isMixed = canceled > 10 / stride && (stride > 1 || canceled < runs);
  assert.ok(runs > 20 / stride && isMixed, `${runs} ${canceled}`);
}

function wasCanceled({ conversation: lines }: LiveOutcome): boolean {
  return lines.some((line) => line.includes('canceled_by_model'));
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Event,
  FunctionTool,
  getPendingUserInputRequests,
  InMemorySessionService,
  LlmAgent,
  Runner,
  setLogger,
} from '@google/adk';
import { z } from 'zod';
import { type DeskOptions, fail, leaveTime, never, refunded, until } from './behaviors.ts';
import { ScriptedLlm } from './models/adk-model.ts';
import {
  bothCalls,
  endless,
  failOnce,
  oneRefund,
  refundTwice,
  type Script,
  twoSteps,
} from './models/script.ts';

setLogger(null); // no logs between the lines of the tests

const key = { appName: 'desk', userId: 'ada', sessionId: 'A-7' };
const request: Parts = [{ text: 'Refund order A-7.' }];

type Parts = NonNullable<NonNullable<Event['content']>['parts']>;

function createDesk(
  script: Script,
  { refund = refunded, needsApproval = false }: DeskOptions = {},
  sessionService = new InMemorySessionService(),
) {
  const ran: string[] = [];
  const define = (name: string, execute: () => Promise<unknown>, requireConfirmation: boolean) =>
    new FunctionTool({
      name,
      description: name,
      parameters: z.object({ order: z.string() }),
      requireConfirmation,
      execute: async () => {
        ran.push(name);
        return execute();
      },
    });
  const tools = [define('find_order', refunded, false), define('refund', refund, needsApproval)];
  const agent = new LlmAgent({ name: 'desk', model: new ScriptedLlm(script), tools });
  const runner = new Runner({
    agent,
    appName: 'desk',
    sessionService,
    resumabilityConfig: { isResumable: true },
  });
  const run = (parts: Parts) => runner.runAsync({ ...key, newMessage: { role: 'user', parts } });
  return {
    ran,
    sessionService,
    run,
    send: async (parts: Parts): Promise<readonly Event[]> => {
      if ((await sessionService.getSession(key)) === undefined)
        await sessionService.createSession(key);
      const events: Event[] = [];
      for await (const event of run(parts)) events.push(event);
      return events;
    },
    listEvents: async (): Promise<readonly Event[]> =>
      (await sessionService.getSession(key))?.events ?? [],
  };
}

function approve(events: readonly Event[]): Parts {
  return getPendingUserInputRequests(events).map(({ interruptId, functionCallName }) => ({
    functionResponse: { id: interruptId, name: functionCallName, response: { confirmed: true } },
  }));
}

describe('ADK for TypeScript', () => {
  it('runs the other calls of an answer while one of them waits, and loses their results', async () => {
    const { ran, send, listEvents } = createDesk(bothCalls, { needsApproval: true });
    await send(request);
    assert.deepEqual(ran, ['find_order']);
    await send(approve(await listEvents()));
    assert.deepEqual(ran, ['find_order', 'refund']);
    const parts = (await listEvents()).flatMap(({ content }) => content?.parts ?? []);
    const responses = parts.flatMap(({ functionResponse }) => functionResponse?.name ?? []);
    assert.deepEqual(responses, ['adk_request_confirmation', 'refund']);
  });

  it('runs a call twice when it is approved twice at the same time', async () => {
    const { ran, send, listEvents } = createDesk(oneRefund, { needsApproval: true });
    await send(request);
    const approval = approve(await listEvents());
    await Promise.all([send(approval), send(approval)]);
    assert.deepEqual(ran, ['refund', 'refund']);
  });

  it('calls the model for a new message while a call waits, and the call keeps waiting', async () => {
    const { ran, send, listEvents } = createDesk(oneRefund, { needsApproval: true });
    await send(request);
    const events = await send([{ text: 'Hello?' }]);
    assert.equal(events.at(-1)?.content?.parts?.[0]?.text, 'Done.');
    await send(approve(await listEvents()));
    assert.deepEqual(ran, ['refund']);
  });

  it('gives the model the message of a tool that throws', async () => {
    const { send } = createDesk(oneRefund, { refund: fail });
    assert.match(JSON.stringify(await send(request)), /"error":"Error in tool 'refund': no money"/);
  });

  it('does not run a tool again when the process died during it', async () => {
    const dead = createDesk(oneRefund, { refund: never });
    void dead.send(request);
    await until(() => dead.ran.length > 0);
    const { ran, send, listEvents } = createDesk(oneRefund, {}, dead.sessionService);
    const events = await send([{ text: 'Go on.' }]);
    assert.equal(events.at(-1)?.content?.parts?.[0]?.text, 'Done.');
    assert.deepEqual(ran, []);
    const parts = (await listEvents()).flatMap(({ content }) => content?.parts ?? []);
    assert.ok(!parts.some(({ functionResponse }) => functionResponse !== undefined));
  });

  it('ends with an event with an errorCode after 500 model calls', async () => {
    const { ran, send } = createDesk(endless);
    const last = (await send(request)).at(-1);
    assert.equal(ran.length, 500);
    assert.equal(last?.errorCode, 'UNKNOWN_ERROR');
  });

  it('does not retry a model call by itself', async () => {
    const { send } = createDesk(failOnce(new Error('busy')));
    assert.equal((await send(request)).at(-1)?.errorCode, 'UNKNOWN_ERROR');
  });

  it('runs two messages of one session at the same time', async () => {
    let running = 0;
    let most = 0;
    const refund = async (): Promise<string> => {
      most = Math.max(most, ++running);
      await until(() => most === 2);
      running--;
      return 'refunded';
    };
    const { send, run } = createDesk(refundTwice, { refund });
    const drain = async (): Promise<void> => {
      for await (const _ of run(request));
    };
    const first = send(request);
    await Promise.all([first, until(() => running > 0).then(drain)]);
    assert.equal(most, 2);
  });

  it('stops when the reader of its events leaves', async () => {
    const { ran, run, sessionService } = createDesk(twoSteps);
    await sessionService.createSession(key);
    for await (const _ of run(request)) break;
    await leaveTime();
    assert.deepEqual(ran, []);
  });
});

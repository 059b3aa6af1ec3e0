import assert from 'node:assert/strict';
import type { AskedCall, Conversation } from './driver.ts';
import type { ScenarioAgent, ScenarioServer } from './scenario-server.ts';

/** One thing that every client does, whatever its protocol. */
export interface Scenario {
  readonly name: string;
  /** Default: `assistant`. */
  readonly agent?: ScenarioAgent;
  readonly play: (conversation: Conversation, server: ScenarioServer) => Promise<void>;
}

function findAsked(asked: readonly AskedCall[], needs: AskedCall['needs']): AskedCall {
  const [call] = asked;
  assert.ok(call !== undefined && asked.length === 1, `${asked.length} calls wait, not 1`);
  assert.equal(call.needs, needs);
  return call;
}

const pickColor = {
  name: 'pick_color',
  description: 'Asks the user for a color.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'text',
    play: async (conversation) => {
      const { text, error, asked } = await conversation.send('Hello');
      assert.deepEqual([text, error, asked], ['You said: Hello', undefined, []]);
    },
  },
  {
    name: 'streamed text',
    play: async (conversation) => {
      const { text, pieces } = await conversation.send('slowly 4');
      assert.equal(text, 'word 0 word 1 word 2 word 3 ');
      assert.ok(pieces >= 2, `${pieces} pieces`);
      assert.equal((await conversation.send('think')).text, 'Yes.');
    },
  },
  {
    name: 'two parallel tools',
    play: async (conversation, { ran }) => {
      const { text, results } = await conversation.send('call look a and look b');
      assert.deepEqual(
        results.map((result) => JSON.parse(result) as unknown),
        [{ seen: 'a' }, { seen: 'b' }],
      );
      assert.equal(text, 'Results: {"seen":"a"} {"seen":"b"}');
      assert.deepEqual(ran, ['look', 'look']);
    },
  },
  {
    name: 'approval, yes and no',
    play: async (conversation, { ran }) => {
      const first = await conversation.send('call erase a');
      assert.deepEqual(ran, []);
      const approved = await conversation.approve(findAsked(first.asked, 'approval'), true);
      assert.equal(approved.text, 'Results: {"erased":"a"}');
      const second = await conversation.send('call erase b');
      const denied = await conversation.approve(findAsked(second.asked, 'approval'), false);
      assert.match(denied.text, /^Results: .*denied/);
      assert.deepEqual(ran, ['erase']);
    },
  },
  {
    name: 'client tool',
    play: async (conversation) => {
      const { asked } = await conversation.send('call pick_color sky', { tools: [pickColor] });
      const { text } = await conversation.answer(findAsked(asked, 'result'), '{"color":"red"}');
      assert.equal(text, 'Results: {"color":"red"}');
    },
  },
  {
    name: 'cancel',
    play: async (conversation, { logTypes }) => {
      let cancelling: Promise<void> | undefined;
      const onPiece = (): void => void (cancelling ??= conversation.cancel());
      const { isCancelled, error } = await conversation.send('slowly 2000', { onPiece });
      await cancelling;
      assert.deepEqual([isCancelled, error], [true, undefined]);
      assert.equal((await logTypes(conversation.id)).at(-1), 'turn.ended');
      assert.equal((await conversation.send('Still there?')).text, 'You said: Still there?');
    },
  },
  {
    name: 'model error',
    play: async (conversation) => {
      const { error } = await conversation.send('fail');
      assert.match(error ?? '', /That cannot be asked/);
    },
  },
  {
    name: 'second turn',
    play: async (conversation, { logTypes }) => {
      await conversation.send('Hello');
      assert.equal((await conversation.send('count')).text, '2 messages');
      const types = await logTypes(conversation.id);
      assert.equal(types.filter((type) => type === 'user.message').length, 2);
    },
  },
  {
    name: 'lost connection',
    play: async (conversation, { logTypes }) => {
      await conversation.send('call look a');
      const { text, results } = await conversation.reconnect();
      assert.equal(text, 'Results: {"seen":"a"}');
      assert.equal(results.length, 1);
      const types = await logTypes(conversation.id);
      assert.equal(types.filter((type) => type === 'user.message').length, 1);
    },
  },
  {
    name: 'sub-agents',
    agent: 'team',
    play: async (conversation) => {
      const { text, agents } = await conversation.send('go');
      assert.match(text, /It is written\.$/);
      assert.deepEqual(agents, ['plan', 'writer', 'checker']);
    },
  },
];

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Command, interrupt } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { type DeskOptions, fail, leaveTime, never, refunded, until } from './behaviors.ts';
import { startDatabase, type Database } from './database.ts';
import { ScriptedChatModel } from './models/langchain-model.ts';
import { bothCalls, endless, failOnce, oneRefund, type Script, twoSteps } from './models/script.ts';

const message = { messages: [{ role: 'user', content: 'Refund order A-7.' }] };
const approval = new Command({ resume: { decisions: [{ type: 'approve' }] } });

describe('LangGraph', () => {
  let database: Database;
  let checkpointer: PostgresSaver;

  before(async () => {
    database = await startDatabase();
    checkpointer = PostgresSaver.fromConnString(database.url);
    await checkpointer.setup();
  });
  after(async () => {
    await checkpointer.end();
    await database.stop();
  });

  function createDesk(
    script: Script,
    { refund = refunded, needsApproval = false }: DeskOptions = {},
  ) {
    const ran: string[] = [];
    const define = (name: string, execute: () => Promise<unknown>) =>
      tool(
        async () => {
          ran.push(name);
          return execute();
        },
        { name, description: name, schema: z.object({ order: z.string() }) },
      );
    const desk = createAgent({
      model: new ScriptedChatModel(script),
      tools: [define('find_order', refunded), define('refund', refund)],
      checkpointer,
      middleware: needsApproval
        ? [humanInTheLoopMiddleware({ interruptOn: { refund: true } })]
        : [],
    });
    return { desk, ran };
  }

  it('runs no call of an answer while one of them waits', async () => {
    const config = newThread();
    const { desk, ran } = createDesk(bothCalls, { needsApproval: true });
    await desk.invoke(message, config);
    assert.deepEqual(ran, []);
    await desk.invoke(approval, config);
    assert.deepEqual(ran.toSorted(), ['find_order', 'refund']);
  });

  it('runs a call twice when it is approved twice at the same time', async () => {
    const config = newThread();
    const one = createDesk(oneRefund, { needsApproval: true });
    const other = createDesk(oneRefund, { needsApproval: true });
    await one.desk.invoke(message, config);
    await Promise.all([one.desk.invoke(approval, config), other.desk.invoke(approval, config)]);
    assert.deepEqual([...one.ran, ...other.ran], ['refund', 'refund']);
  });

  it('ignores an approval after the call has run', async () => {
    const config = newThread();
    const { desk, ran } = createDesk(oneRefund, { needsApproval: true });
    await desk.invoke(message, config);
    for (let n = 0; n < 2; n++) await desk.invoke(approval, config);
    assert.deepEqual(ran, ['refund']);
  });

  it('drops a call that waits when a new message arrives', async () => {
    const config = newThread();
    const { desk, ran } = createDesk(oneRefund, { needsApproval: true });
    await desk.invoke(message, config);
    const { messages } = await desk.invoke(
      { messages: [{ role: 'user', content: 'Hello?' }] },
      config,
    );
    assert.equal(messages.at(-1)?.text, 'Done.');
    await desk.invoke(approval, config);
    assert.deepEqual(ran, []);
  });

  it('gives the model the message of a tool that throws', async () => {
    const { desk } = createDesk(oneRefund, { refund: fail });
    const { messages } = await desk.invoke(message, newThread());
    assert.match(messages.find(({ type }) => type === 'tool')?.text ?? '', /no money/);
  });

  it('runs a tool again when the process died during it, once the program invokes the graph', async () => {
    const config = newThread();
    const dead = createDesk(oneRefund, { refund: never });
    void dead.desk.invoke(message, config);
    await until(() => dead.ran.length > 0);
    await leaveTime(); // checkpoints are written while the next step runs
    const { desk, ran } = createDesk(oneRefund);
    await desk.invoke(null, config);
    assert.deepEqual(ran, ['refund']);
  });

  it('runs the code before an interrupt() again on resume', async () => {
    const config = newThread();
    const refund = async (): Promise<unknown> => interrupt('Is that right?');
    const { desk, ran } = createDesk(oneRefund, { refund });
    await desk.invoke(message, config);
    await desk.invoke(new Command({ resume: 'Yes.' }), config);
    assert.deepEqual(ran, ['refund', 'refund']);
  });

  it('throws GraphRecursionError after 25 steps', async () => {
    const { desk, ran } = createDesk(endless);
    await assert.rejects(desk.invoke(message, newThread()), { name: 'GraphRecursionError' });
    assert.equal(ran.length, 12);
  });

  it('does not retry a model call by itself', async () => {
    const { desk } = createDesk(failOnce(new Error('busy')));
    await assert.rejects(desk.invoke(message, newThread()), { message: 'busy' });
  });

  it('stops when the reader of its stream leaves', async () => {
    const { desk, ran } = createDesk(twoSteps);
    for await (const _ of await desk.stream(message, { ...newThread(), streamMode: 'updates' }))
      break;
    await leaveTime();
    assert.ok(!ran.includes('refund'));
  });
});

let threads = 0;

function newThread() {
  return { configurable: { thread_id: `thread-${threads++}` } };
}

/** Asks for an answer, approves the call that the turn waits for, and gets the answer of the same turn. */
import assert from 'node:assert/strict';
import { agent, openRuntime, tool, TurnNotCompletedError } from 'petrichor';
import type { Session } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const remove = tool({
  name: 'remove',
  description: 'Deletes a file',
  parameters: z.object({ path: z.string() }),
  needsApproval: true,
  execute: ({ path }) => ({ deleted: path }),
});
const model = new ScriptedModel([
  { toolCalls: [{ name: 'remove', args: { path: 'a.txt' } }] },
  { text: 'Deleted.' },
]);
await using runtime = await openRuntime({
  agents: [agent({ name: 'clerk', model, tools: [remove] })],
});
const session = await runtime.session('demo');

async function askAndApprove(to: Session, message: string, messageId: string): Promise<string> {
  try {
    return await to.ask(message, { messageId });
  } catch (error) {
    if (!(error instanceof TurnNotCompletedError) || error.pending.length === 0) throw error;
    console.log(error.message);
    for (const { id, fingerprint } of error.pending) await to.approve(id, { fingerprint }).accepted;
    return to.ask(message, { messageId }); // the same turn, because the messageId is the same
  }
}

const answer = await askAndApprove(session, 'Delete a.txt', 'message-1');
assert.equal(answer, 'Deleted.');
console.log(answer);

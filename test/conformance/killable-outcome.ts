/** A process that runs the rounds of an outcome, and kills itself at a given commit. */
import { contentText } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openKillableStore } from './open-killable-store.ts';

const store = await openKillableStore(process.argv[2]);
const model = new ScriptedModel(({ contents }, index) => {
  // The second draft depends on the grade of the first, in any process.
  const last = contents.at(-1);
  const why = last === undefined ? '' : contentText(last);
  return { text: `Draft ${index + 1}${why.includes('Too short') ? ', longer' : ''}.` };
});
const grader = new ScriptedModel(({ contents }) => {
  const drafts = JSON.stringify(contents).match(/Draft \d+, longer/g) ?? [];
  const result = drafts.length < 2 ? 'needs_revision' : 'satisfied';
  return { text: JSON.stringify({ result, explanation: 'Too short.' }) };
});
const runtime = await openManagedRuntime({ store, grader, resolver: async () => model });
const [found] = (await runtime.listAgents()).data;
const agent = found ?? (await runtime.create({ name: 'mortal', model: 'gemini-2.5-flash' }));
const { id } = await runtime.startSession(agent.id, { userId: 'ada' }, { dedupeKey: 'outcome' });
const reading = (async () => {
  for await (const event of runtime.streamLog(id, 0)) {
    if (!('at' in event) || event.type === 'model.attempt') continue;
    const more =
      event.type === 'outcome.evaluated'
        ? ` ${event.iteration} ${event.result}`
        : event.type === 'agent.message'
          ? ` ${contentText(event.content)}`
          : event.type === 'outcome.ended'
            ? ` ${event.result}`
            : '';
    process.stdout.write(`${event.type}${more}\n`);
    if (event.type === 'session.completed') break;
  }
})();
if ((await runtime.status(id)) !== 'completed') {
  const event = {
    type: 'user.define_outcome',
    description: 'A long story.',
    max_iterations: 5,
    complete_when_satisfied: true,
  };
  await runtime.sendEvent(id, event, { dedupeKey: 'o1' });
}
await reading;
process.stdout.write('done\n');
await runtime.close();
await store.close();

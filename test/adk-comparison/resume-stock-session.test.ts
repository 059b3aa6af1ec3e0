import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFolder } from '../cli/command-folder.ts';
import { runOnStock } from './parity/stock-kit.ts';

const adk = new URL('../../src/adk/index.ts', import.meta.url).href;
const models = new URL('../../src/models/index.ts', import.meta.url).href;

/** The agent of the program, with petrichor/adk. The model fails if it is asked before the refund. */
const deskAgent = `
import { FunctionTool, LlmAgent } from '${adk}';
import { ScriptedModel } from '${models}';

const refund = new FunctionTool({
  name: 'refund',
  description: 'Refunds an order.',
  requireConfirmation: true,
  execute: () => ({ refunded: 'A-7' }),
});
const find = new FunctionTool({
  name: 'find',
  description: 'Finds an order.',
  execute: () => { throw new Error('It has a result already.'); },
});
const model = new ScriptedModel(({ contents }) => {
  const { name, response } = contents.at(-1).parts[0].functionResponse;
  return { text: name + ' gave ' + JSON.stringify(response) };
});
export const rootAgent = new LlmAgent({ name: 'desk', model, tools: [find, refund] });
`;

test('a session that waits in stock ADK continues here, from the file that its command line writes', async () => {
  const { session } = await runOnStock({
    name: 'refund',
    area: '',
    root: (kit) =>
      kit.llm({
        name: 'desk',
        tools: [
          kit.tool({ name: 'find', description: 'Finds an order.', execute: () => ({ found: 1 }) }),
          kit.tool({
            name: 'refund',
            description: 'Refunds an order.',
            requireConfirmation: true,
            execute: () => ({ refunded: 'A-7' }),
          }),
        ],
        script: [
          { text: 'Good day.' },
          { calls: [{ name: 'find' }] },
          { calls: [{ name: 'refund' }] },
        ],
      }),
    turns: ['Hello.', 'Refund A-7.'],
  });
  const folder = new CommandFolder();
  folder.write('agent.ts', deskAgent);
  folder.write('saved.session.json', JSON.stringify(session));
  const { code, stdout, stderr } = await folder.run(
    ['adk', 'run', 'agent.ts', '--resume', 'saved.session.json'],
    'yes\n',
  );
  assert.equal(stderr.raw, '');
  assert.equal(code, 0);
  assert.match(stdout.text, /^\[user\]: Hello\.\n\[desk\]: Good day\.\n\[user\]: Refund A-7\.\n/);
  assert.match(stdout.text, /--- \[desk\] waits for confirmation ---\nTool: refund \{\}\n/);
  assert.match(stdout.text, /\[user\]: yes\n\[desk\]: refund gave \{"refunded":"A-7"\}\n$/);
});

/** Answers the calls that its parent names, one per line, and prints the result of each. */
import { createInterface } from 'node:readline';
import { openManagedRuntime } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';

const [database = '', name = ''] = process.argv.slice(2);
const model = new ScriptedModel(({ contents }) =>
  JSON.stringify(contents.at(-1)).includes('functionResponse')
    ? { text: 'Done.' }
    : { toolCalls: [{ name: 'deploy', args: {} }] },
);
await using runtime = await openManagedRuntime({
  store: `sqlite:${database}`,
  resolver: async () => model,
});
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, callId }: { readonly id: string; readonly callId: string } = JSON.parse(line);
  try {
    await runtime.sendEvent(id, {
      type: 'user.custom_tool_result',
      custom_tool_use_id: callId,
      content: name,
    });
    process.stdout.write('won\n');
  } catch (error) {
    process.stdout.write(`${error instanceof Error && 'code' in error ? error.code : error}\n`);
  }
}

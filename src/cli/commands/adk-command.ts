import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defineCommand, type Command } from '../command/command.ts';
import { UsageError } from '../command/usage-error.ts';
import { serveOptions } from '../serve/serve-options.ts';

const BUNDLE = join('node_modules', '@google', 'adk-devtools', 'dist', 'browser');

/** The command that serves agents to the web interface of ADK. */
export const adkCommand: Command = defineCommand({
  name: 'adk',
  operands: ['web', 'FILE'],
  summary: "Serve agents with ADK's web interface",
  description: [
    'petrichor adk web FILE is petrichor serve FILE --protocols managed,adk, with the web interface of ADK under',
    '/dev-ui/. The interface is that of your installation: npm install @google/adk-devtools. It has no place for a key,',
    'so it works until the store has one.',
  ].join('\n'),
  options: serveOptions,
  run: async (call) => {
    const [what, file] = call.operands;
    if (what !== 'web' || file === undefined)
      throw new UsageError('Use petrichor adk web FILE.', 'adk');
    const adkWeb = findBundle(call.cwd) ?? findBundle(dirname(resolve(call.cwd, file)));
    if (adkWeb === undefined)
      throw new UsageError(
        `The package @google/adk-devtools is not installed in ${call.cwd}. Run npm install @google/adk-devtools.`,
        'adk',
      );
    // Loaded on demand, because a server needs more than all other commands together.
    const { serve } = await import('../serve/serve.ts');
    return serve({ ...call, operands: [file] }, { adkWeb });
  },
});

/** The interface in the nearest `node_modules`, from a folder upwards. */
function findBundle(folder: string): string | undefined {
  const bundle = join(folder, BUNDLE);
  if (existsSync(join(bundle, 'index.html'))) return bundle;
  const parent = dirname(folder);
  return parent === folder ? undefined : findBundle(parent);
}

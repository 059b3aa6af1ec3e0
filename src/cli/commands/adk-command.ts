import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CliContext } from '../command/cli-context.ts';
import { defineCommand } from '../command/command.ts';
import type { Command } from '../command/command.ts';
import type { ExitCode } from '../command/exit-code.ts';
import { UsageError } from '../command/usage-error.ts';
import { findAgentFile, listAgentFolders } from '../adk/agent-file.ts';
import { normalizeAdkArgs, toServeArgs } from '../adk/adk-flags.ts';
import { adkRunOptions } from '../adk/adk-run-options.ts';
import { serveOptions } from '../serve/serve-options.ts';

const BUNDLE = join('node_modules', '@google', 'adk-devtools', 'dist', 'browser');

const runCommand = defineCommand({
  name: 'adk',
  operands: ['FILE'],
  summary: '',
  description: '',
  options: adkRunOptions,
  // Loaded on demand, because other commands need less.
  run: async (call) => (await import('../adk/adk-chat.ts')).runAdkAgent(call),
});

const webCommand = defineServe((call, file) => {
  const adkWeb = findBundle(call.cwd) ?? findBundle(dirname(resolve(call.cwd, file)));
  if (adkWeb === undefined)
    throw new UsageError(
      `The package @google/adk-devtools is not installed in ${call.cwd}. Run npm install @google/adk-devtools.`,
      'adk',
    );
  return { adkWeb };
});

const apiServerCommand = defineServe(() => ({}));

/** The command with the commands of ADK. */
export const adkCommand: Command = {
  ...defineCommand({
    name: 'adk',
    operands: ['run|web|api_server', 'FILE'],
    summary: 'Run an ADK agent, or serve it with the API and the web interface of ADK',
    description: [
      'FILE is a module that exports rootAgent: an agent or App of petrichor/adk. A folder with agent.ts works too.',
      'adk web and adk api_server also take a folder of such folders: each is an app with the name of its folder.',
      'The flags are those of the adk command of Google, where they mean the same; another one of its flags is refused,',
      'with the reason. -h is the help, so name --host in full.',
      '',
      'adk run chats in the terminal. adk web and adk api_server are petrichor serve with --protocols managed,adk, and',
      'take its options too. adk web adds the web interface of ADK under /dev-ui/: npm install @google/adk-devtools.',
      'The interface has no place for a key, so it works until the store has one.',
      '--allow_origins, --session_service_uri and --a2a are the flags of ADK for --allow-origin, --store and --protocols.',
    ].join('\n'),
    options: { ...serveOptions, ...adkRunOptions },
    run: dispatch,
  }),
  run: dispatch,
};

async function dispatch(context: CliContext): Promise<ExitCode> {
  const [what, ...args] = context.args;
  switch (what) {
    case 'run':
      return runCommand.run({ ...context, args: normalizeAdkArgs(args) });
    case 'web':
      return webCommand.run({ ...context, args: toServeArgs(args) });
    case 'api_server':
      return apiServerCommand.run({ ...context, args: toServeArgs(args) });
    default:
      throw new UsageError('Use petrichor adk run, web or api_server, with FILE.', 'adk');
  }
}

function defineServe(
  createHooks: (call: Pick<CliContext, 'cwd'>, file: string) => { readonly adkWeb?: string },
): Command {
  return defineCommand({
    name: 'adk',
    operands: ['FILE'],
    summary: '',
    description: '',
    options: serveOptions,
    run: async (call) => {
      const [operand = ''] = call.operands;
      const folders = listAgentFolders(operand, call.cwd);
      const file = folders === undefined ? findAgentFile(operand, call.cwd) : operand;
      const hooks = createHooks(call, file);
      // Loaded on demand, because a server needs more than all other commands together.
      const { serve } = await import('../serve/serve.ts');
      return serve(
        { ...call, operands: [file] },
        {
          ...hooks,
          ...(folders !== undefined && {
            loadAgents: async () => {
              const { loadAgentFolders } = await import('../adk/agent-folders.ts');
              return loadAgentFolders(operand, folders, call.cwd);
            },
          }),
        },
      );
    },
  });
}

/** The interface in the nearest `node_modules`, from a folder upwards. */
function findBundle(folder: string): string | undefined {
  const bundle = join(folder, BUNDLE);
  if (existsSync(join(bundle, 'index.html'))) return bundle;
  const parent = dirname(folder);
  return parent === folder ? undefined : findBundle(parent);
}

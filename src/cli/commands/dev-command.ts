import { defineCommand, type Command } from '../command/command.ts';
import { devOptions } from '../dev/dev-options.ts';

/** The command that serves a file with the console, and reloads it. */
export const devCommand: Command = defineCommand({
  name: 'dev',
  operands: ['FILE'],
  summary: 'Serve agents with the developer console, and reload them when a file changes',
  description: [
    'Serves the agents of FILE as petrichor serve does, with the developer console, and opens the console in a browser.',
    'When FILE or a file that it imports changes, it is loaded again: sessions go on with the new agents, and the console',
    'reconnects. While FILE has an error, the version before keeps running.',
    '',
    'No API key is needed: a model that has none gets scripted answers. They repeat the message, and call a tool when the',
    'message is: call NAME {"argument": "value"}. With a key in the environment, the model itself answers.',
  ].join('\n'),
  options: devOptions,
  run: async (call) => (await import('../dev/dev.ts')).dev(call),
});

/** The process that `petrichor dev` starts for each version of the file. It is not for people. */
export const devServerCommand: Command = defineCommand({
  name: 'dev-server',
  operands: ['FILE'],
  summary: 'The server of petrichor dev',
  description: 'Started by petrichor dev.',
  options: devOptions,
  run: async (call) => (await import('../dev/dev-server.ts')).serveForDev(call),
});

import { defineCommand, type Command } from '../command/command.ts';
import { serveOptions } from '../serve/serve-options.ts';

/** The command that serves agents over HTTP. */
export const serveCommand: Command = defineCommand({
  name: 'serve',
  operands: [],
  summary: 'Serve agents over HTTP; sessions that were running go on',
  description: [
    'Speaks the protocol of Managed Agents: the official SDK with this base URL is a client. FILE is a .json list of',
    'agents as one would send them, or a module that exports `agents` and, if it likes, `tools`, `resolver`,',
    '`builtIns`, `mcp` and `skills`. Its agents are found by the id agent_NAME; a changed one is a new version.',
    '',
    'While the store has no key, anybody on this machine may call. From the first key on, everybody must bring one.',
    'SIGTERM and Ctrl-C end it gracefully: what runs settles, streams end where they can be resumed. However it',
    'ends, kill -9 included, the same command goes on with every session.',
    '',
    'Environment: the keys of model providers. PETRICHOR_SECRET_KEY (32 or more random characters) encrypts the',
    'secrets of webhooks; without it a key file is made beside a SQLite store. BRAVE_API_KEY gives agents web_search.',
  ].join('\n'),
  options: serveOptions,
  // Loaded when it is asked for: what a server needs is more than all else here.
  run: async (call) => (await import('../serve/serve.ts')).serve(call),
});

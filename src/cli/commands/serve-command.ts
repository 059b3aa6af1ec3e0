import { defineCommand, type Command } from '../command/command.ts';
import { serveOptions } from '../serve/serve-options.ts';

/** The command that serves agents over HTTP. */
export const serveCommand: Command = defineCommand({
  name: 'serve',
  operands: ['[FILE]'],
  summary: 'Serve agents over HTTP, and resume their running sessions',
  description: [
    'Implements the Managed Agents protocol: the official SDK with this base URL is a client. FILE is a module: each',
    'agent that it exports is served, alone or in a list, whatever made it: agent({ … }) and the other kinds, an ADK App',
    'or agent, or a definition as data. FILE can also be a .json list of definitions, as a client would send them.',
    'A module can also export `tools`, `resolver`, `builtIns`, `mcp` and `skills` for its definitions.',
    'An agent gets the id agent_NAME; a changed agent becomes a new version.',
    '',
    'Until the store has a key, only this machine may call the server. Once it has one, every request needs a key.',
    'SIGTERM and Ctrl-C shut it down gracefully: running effects settle, streams end where they can be resumed.',
    'However it ends, even with kill -9, the same command resumes every session.',
    '',
    'Environment: the keys of model providers. PETRICHOR_SECRET_KEY (32 or more random characters) encrypts the secrets',
    'of webhooks; without it, a key file is created beside a SQLite store. BRAVE_API_KEY gives agents web_search. PETRICHOR_CONSOLE_FILES',
    'names the folder of another build of the console.',
  ].join('\n'),
  options: serveOptions,
  // Loaded on demand, because a server needs more than all other commands together.
  run: async (call) => (await import('../serve/serve.ts')).serve(call),
});

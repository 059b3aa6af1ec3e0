import { defineCommand, type Command } from '../command/command.ts';
import { consoleOptions } from '../serve/open-console.ts';

/** The command that shows the console for a running server, or for a store without one. */
export const consoleCommand: Command = defineCommand({
  name: 'console',
  operands: ['[FILE]'],
  summary: 'Show the developer console for a running server, or for a store without one',
  description: [
    'With --server, the page calls that server from the browser, which must allow its origin: petrichor serve',
    '--allow-origin. The key is entered in the page.',
    '',
    'With --store, the sessions of a SQLite file or of a PostgreSQL database are shown after a crash or on another machine.',
    'Nothing runs, no session is claimed, and nothing in the store changes: a SQLite file is copied first. FILE is the',
    'module of the agents: it is imported, and their nets are shown. While a program writes to a file, use --server.',
  ].join('\n'),
  options: consoleOptions,
  run: async (call) => (await import('../serve/open-console.ts')).openConsole(call),
});

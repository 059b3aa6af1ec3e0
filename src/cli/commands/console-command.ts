import { defineCommand, type Command } from '../command/command.ts';
import { consoleOptions } from '../serve/open-console.ts';

/** The command that shows the console for a running server, or for a store without one. */
export const consoleCommand: Command = defineCommand({
  name: 'console',
  operands: [],
  summary: 'Show the developer console for a running server, or for a copy of a store',
  description: [
    'With --server, the page calls that server from the browser, which must allow its origin: petrichor serve',
    '--allow-origin. The key is entered in the page.',
    '',
    'With --store, the sessions of a SQLite file are shown after a crash or on another machine. The file is copied, so it',
    'does not change. Nothing runs, no session is claimed, and every request that could change something is refused.',
    'While a program writes to the file, use --server.',
  ].join('\n'),
  options: consoleOptions,
  run: async (call) => (await import('../serve/open-console.ts')).openConsole(call),
});

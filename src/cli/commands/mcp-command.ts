import { defineCommand, type Command } from '../command/command.ts';
import { servedOptions } from '../serve/serve-options.ts';

/** The command that serves agents to an MCP client over stdio. */
export const mcpCommand: Command = defineCommand({
  name: 'mcp',
  operands: ['FILE'],
  summary: 'Serve agents as tools to an MCP client, over stdio',
  description: [
    'The client starts this command, for example an editor or a desktop assistant: { "command": "petrichor",',
    '"args": ["mcp", "agents.ts"] }. Each agent that FILE exports is a tool, and each session log a resource. FILE is as',
    'for petrichor serve. Sessions are in the store: a call with the session_id of an earlier one continues it.',
    '',
    'The command ends when the client does. A turn that runs then goes on when the command is started again.',
    'It needs the package @modelcontextprotocol/server.',
  ].join('\n'),
  options: servedOptions,
  // Loaded on demand, because a server needs more than all other commands together.
  run: async (call) => (await import('../serve/mcp.ts')).serveMcp(call),
});

/**
 * Opens a toolset on a program, prints the process id of that program, and stays until it is
 * killed.
 */
import { openMcpToolset } from '../../src/tools/mcp/index.ts';
import { callTool } from './call-tool.ts';

const [program = ''] = process.argv.slice(2);
const set = await openMcpToolset({
  name: 'small',
  command: process.execPath,
  args: [program],
  protocol: 'legacy',
});
const { pid } = Object(await callTool(set, 'about')) as { pid: number };
console.log(pid);
setInterval(() => undefined, 1000);

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpStdioServer } from '../../src/tools/mcp/index.ts';
import { freePort } from '../free-port.ts';
import everything from '@modelcontextprotocol/server-everything/package.json' with { type: 'json' };
import filesystem from '@modelcontextprotocol/server-filesystem/package.json' with { type: 'json' };
import memory from '@modelcontextprotocol/server-memory/package.json' with { type: 'json' };

type ServerName = 'everything' | 'filesystem' | 'memory';

const servers: Readonly<Record<ServerName, string>> = {
  everything: everything.bin['mcp-server-everything'],
  filesystem: filesystem.bin['mcp-server-filesystem'],
  memory: memory.bin['mcp-server-memory'],
};

/** One of the three servers of the protocol's project, as a program. */
export function realServer(name: ServerName, ...args: readonly string[]): McpStdioServer {
  return { command: process.execPath, args: [resolveProgram(name), ...args] };
}

/** A server that writes its process id to a file first, so that a test can stop and kill it. */
export function killableServer(
  name: ServerName,
  pidFile: string,
  ...args: readonly string[]
): { readonly program: McpStdioServer; readonly pid: () => Promise<number> } {
  const server = realServer(name, ...args);
  const script = 'echo $$ > "$0"; exec "$@"';
  return {
    program: {
      command: 'sh',
      args: ['-c', script, pidFile, server.command, ...(server.args ?? [])],
    },
    pid: async () => Number(await readFile(pidFile, 'utf8')),
  };
}

function resolveProgram(name: ServerName): string {
  const found = import.meta.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(dirname(fileURLToPath(found)), servers[name]);
}

/** The everything server over streamable HTTP, on its own port. */
export interface HttpServerProcess extends AsyncDisposable {
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
}

export async function openEverythingOverHttp(): Promise<HttpServerProcess> {
  const port = await freePort();
  let child = await started(port);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    kill,
    restart: async () => {
      await kill();
      child = await started(port);
    },
    [Symbol.asyncDispose]: kill,
  };
}

async function started(port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [resolveProgram('everything'), 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const line of child.stderr) {
    if (String(line).includes('listening')) return child;
  }
  throw new Error('The everything server ended before it listened.');
}

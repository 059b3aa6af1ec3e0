import type * as server from '@modelcontextprotocol/server';

/** The official SDK for MCP servers. It is an optional package. */
export type McpServerSdk = typeof server;

/** Loads the SDK. */
export async function loadMcpServerSdk(): Promise<McpServerSdk> {
  return import('@modelcontextprotocol/server');
}

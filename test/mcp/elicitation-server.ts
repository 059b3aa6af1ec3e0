import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { openWebServer, type WebServer } from './web-server.ts';

/** A stateless server of 2026-07-28 that asks a person during a call. */
export interface ElicitationServer extends WebServer {
  readonly url: string;
  /** The orders, oldest first. */
  readonly orders: readonly string[];
  /** Adds a tool named `later`, and notifies the clients. */
  readonly grow: () => void;
  /** Resolves when a call of `hang` has arrived. */
  readonly hanging: Promise<void>;
  /** Resolves when that call was cancelled. */
  readonly cancelled: Promise<void>;
}

export async function openElicitationServer(): Promise<ElicitationServer> {
  const orders: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  let grown = false;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'asking', version: '1.0.0' });
    server.registerTool(
      'order',
      { description: 'Orders a shirt.', inputSchema: z.object({ what: z.string() }) },
      async ({ what }, { mcpReq }) => {
        const content = acceptedContent<{ colour: string }>(mcpReq.inputResponses, 'colour');
        const response = mcpReq.inputResponses?.['colour'];
        if (response !== undefined && content === undefined) {
          return { content: [{ type: 'text', text: 'Nothing was ordered.' }] };
        }
        if (content === undefined) {
          return inputRequired({
            inputRequests: {
              colour: inputRequired.elicit({
                message: `Which colour is the ${what} to have?`,
                requestedSchema: {
                  type: 'object',
                  properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
                  required: ['colour'],
                },
              }),
            },
            requestState: `the ${what}`,
          });
        }
        orders.push(`${content.colour} ${mcpReq.requestState<string>()}`);
        return { content: [{ type: 'text', text: `Ordered in ${content.colour}.` }] };
      },
    );
    server.registerTool(
      'hang',
      { description: 'Never answers.', inputSchema: z.object({}) },
      async (_args, { mcpReq }) => {
        hanging.resolve();
        mcpReq.signal.addEventListener('abort', () => cancelled.resolve());
        return new Promise<never>(() => undefined);
      },
    );
    if (grown) {
      server.registerTool(
        'later',
        { description: 'Came later.', inputSchema: z.object({}) },
        () => ({
          content: [{ type: 'text', text: 'here' }],
        }),
      );
    }
    return server;
  });
  const web = await openWebServer((request) => handler.fetch(request));
  return {
    ...web,
    url: `${web.origin}/mcp`,
    orders,
    hanging: hanging.promise,
    cancelled: cancelled.promise,
    grow: () => {
      grown = true;
      handler.notify.toolsChanged();
    },
    [Symbol.asyncDispose]: async () => {
      await handler.close();
      await web[Symbol.asyncDispose]();
    },
  };
}

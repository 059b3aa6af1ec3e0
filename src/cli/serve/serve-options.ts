import type { CommandCall, ListOption, Options, TextOption } from '../command/command.ts';
import { storeOption } from '../command/shared-options.ts';

export const DEFAULT_PORT = 8787;
export const DEFAULT_HOST = '127.0.0.1';

/** The options of `petrichor serve`. */
export interface ServeOptions extends Options {
  readonly port: TextOption;
  readonly host: TextOption;
  readonly store: TextOption;
  readonly agents: TextOption;
  readonly app: TextOption;
  readonly sandbox: TextOption;
  readonly 'web-host': ListOption;
  readonly 'allow-origin': ListOption;
  readonly 'allow-host': ListOption;
  readonly 'webhook-host': ListOption;
  readonly 'model-origin': ListOption;
  readonly 'max-body': TextOption;
  readonly 'creates-per-minute': TextOption;
  readonly 'requests-per-minute': TextOption;
  readonly 'retry-window': TextOption;
  readonly 'failed-keys-per-minute': TextOption;
  readonly 'trust-proxy': ListOption;
}

export const serveOptions: ServeOptions = {
  port: {
    type: 'string',
    value: 'N',
    summary: `The port to listen on; 0 for any free one. Default: ${DEFAULT_PORT}`,
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    summary: `The address to listen on. Default: ${DEFAULT_HOST}. Others require a key: petrichor keys create`,
  },
  store: storeOption,
  agents: {
    type: 'string',
    value: 'FILE',
    summary: 'The same as FILE',
  },
  app: {
    type: 'string',
    value: 'NAME',
    summary:
      'The application whose sessions are served: petrichor for those of petrichor run. Default: managed',
  },
  sandbox: {
    type: 'string',
    value: 'FOLDER',
    summary: 'A folder for the built-in tools (bash, files); each session gets a folder in it',
  },
  'web-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary: 'A host that the built-in tool web_fetch may read: example.com, *.example.com, *',
  },
  'allow-origin': {
    type: 'string',
    value: 'ORIGIN',
    multiple: true,
    summary: 'An origin whose web pages may call (CORS). Default: none',
  },
  'allow-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary:
      'Without keys: another Host header to accept beside localhost: agents.internal, *.internal',
  },
  'webhook-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary: 'A webhook host that needs no public address: 127.0.0.1:8080, *.internal',
  },
  'model-origin': {
    type: 'string',
    value: 'ORIGIN',
    multiple: true,
    summary:
      'An origin that the base_url of agents may have: http://127.0.0.1:11434, https://*.example.com. Default: none',
  },
  'max-body': {
    type: 'string',
    value: 'BYTES',
    summary: 'The largest request body. Default: 1048576',
  },
  'creates-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'New agents, environments and sessions per key. Default: 60',
  },
  'requests-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'Other requests per key. Default: 600',
  },
  'retry-window': {
    type: 'string',
    value: 'DURATION',
    summary:
      'How long after a reply an equal request without Idempotency-Key counts as a retry: 30s, 2m, or 0. Default: 60s',
  },
  'failed-keys-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'Requests with an invalid key per address before status 429. Default: 30',
  },
  'trust-proxy': {
    type: 'string',
    value: 'ADDRESS',
    multiple: true,
    summary:
      'The IP address of a trusted proxy, whose x-forwarded-for header names the client: 10.0.0.1',
  },
};

export type ServeCall = CommandCall<ServeOptions>;

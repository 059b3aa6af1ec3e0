import type { CommandCall, ListOption, Options, TextOption } from '../command/command.ts';
import { storeOption } from '../command/shared-options.ts';

export const DEFAULT_PORT = 8787;
export const DEFAULT_HOST = '127.0.0.1';

/** What a server is told when it begins. */
export interface ServeOptions extends Options {
  readonly port: TextOption;
  readonly host: TextOption;
  readonly store: TextOption;
  readonly agents: TextOption;
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
    summary: `Where to listen; ${DEFAULT_PORT} unless given, 0 for any that is free`,
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    summary: `On which address; ${DEFAULT_HOST} unless given. Another one needs a key: petrichor keys create`,
  },
  store: storeOption,
  agents: {
    type: 'string',
    value: 'FILE',
    summary: 'Agents that are there from the start: a .json list, or a module',
  },
  sandbox: {
    type: 'string',
    value: 'FOLDER',
    summary: 'A folder for the built-in tools (bash, files): each session gets one in it',
  },
  'web-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary: 'A host that the built-in tool web_fetch may ask: example.com, *.example.com, *',
  },
  'allow-origin': {
    type: 'string',
    value: 'ORIGIN',
    multiple: true,
    summary: 'Pages of this origin may call; none unless given',
  },
  'allow-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary:
      'Without keys, a name of this server beside localhost that requests may use as Host: agents.internal, *.internal',
  },
  'webhook-host': {
    type: 'string',
    value: 'HOST',
    multiple: true,
    summary:
      'Webhooks may go to this host even if its address is not public: 127.0.0.1:8080, *.internal',
  },
  'model-origin': {
    type: 'string',
    value: 'ORIGIN',
    multiple: true,
    summary:
      'Agents may name a base_url at this origin: http://127.0.0.1:11434, https://*.example.com; none unless given',
  },
  'max-body': { type: 'string', value: 'BYTES', summary: 'Of a request; 1048576 unless given' },
  'creates-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'New agents, environments and sessions for each key; 60 unless given',
  },
  'requests-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'Other requests for each key; 600 unless given',
  },
  'retry-window': {
    type: 'string',
    value: 'DURATION',
    summary:
      'How long after a reply an equal retry without an Idempotency-Key counts once: 30s, 2m, or 0; 60s unless given',
  },
  'failed-keys-per-minute': {
    type: 'string',
    value: 'N',
    summary: 'Requests with an invalid key for each address, then 429; 30 unless given',
  },
  'trust-proxy': {
    type: 'string',
    value: 'ADDRESS',
    multiple: true,
    summary:
      'The IP address of a proxy in front of this server, whose x-forwarded-for names the client: 10.0.0.1',
  },
};

export type ServeCall = CommandCall<ServeOptions>;

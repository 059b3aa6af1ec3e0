import { omitUndefined } from '../../core/internal.ts';
import type { StoreOptions } from '../../store/index.ts';
import type { CommandCall } from '../command/command.ts';
import type { Switch, ListOption, Options, TextOption } from '../command/options.ts';
import { DEFAULT_PROTOCOLS, PROTOCOL_NAMES } from '../../server/protocol-list.ts';
import { storeOption } from '../command/shared-options.ts';
import { archiveOption } from '../loading/open-archive.ts';

export const DEFAULT_PORT = 8787;
export const DEFAULT_HOST = '127.0.0.1';

/** The options that say what is served, and with what. */
export interface ServedOptions extends Options {
  readonly store: TextOption;
  readonly 'listen-store': TextOption;
  readonly app: TextOption;
  readonly sandbox: TextOption;
  readonly 'web-host': ListOption;
  readonly 'model-origin': ListOption;
}

/** The options of `petrichor serve`. */
export interface ServeOptions extends ServedOptions {
  readonly config: TextOption;
  readonly port: TextOption;
  readonly host: TextOption;
  readonly agents: TextOption;
  readonly protocols: TextOption;
  readonly 'public-url': TextOption;
  readonly console: Switch;
  readonly telemetry: Switch;
  readonly live: Switch;
  readonly 'live-page': Switch;
  readonly 'live-connections': TextOption;
  readonly 'allow-origin': ListOption;
  readonly 'allow-host': ListOption;
  readonly 'webhook-host': ListOption;
  readonly 'max-body': TextOption;
  readonly 'creates-per-minute': TextOption;
  readonly 'requests-per-minute': TextOption;
  readonly quotas: TextOption;
  readonly 'retry-window': TextOption;
  readonly 'failed-keys-per-minute': TextOption;
  readonly 'trust-proxy': ListOption;
  readonly 'drain-timeout': TextOption;
  readonly dispatch: TextOption;
  readonly 'dispatch-listen': TextOption;
  readonly 'dispatch-key': ListOption;
  readonly 'dispatch-timeout': TextOption;
  readonly retention: TextOption;
  readonly archive: TextOption;
  readonly imports: Switch;
  readonly 'max-import': TextOption;
  readonly workers: TextOption;
}

export const serveOptions: ServeOptions = {
  config: {
    type: 'string',
    value: 'FILE',
    summary:
      'A JSON file with these options, by their names: { "port": 8787 }. The command line wins',
  },
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
  'listen-store': {
    type: 'string',
    value: 'URL',
    summary:
      'The PostgreSQL server itself, if --store names a pooler in transaction mode, such as PgBouncer',
    fromEnvironment: true,
  },
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
  protocols: {
    type: 'string',
    value: 'NAMES',
    summary: `The protocols to speak, separated by commas: ${PROTOCOL_NAMES.join(', ')}. Default: ${DEFAULT_PROTOCOLS.join(', ')}`,
  },
  'public-url': {
    type: 'string',
    value: 'URL',
    summary: 'The address for clients, if a proxy is in front: https://agents.example',
  },
  console: {
    type: 'boolean',
    summary: 'Serve the developer console under /console/, and run the proofs that it starts',
  },
  telemetry: {
    type: 'boolean',
    summary:
      'Trace sessions with the OpenTelemetry SDK that the process registers. Needs the package @opentelemetry/api',
  },
  live: {
    type: 'boolean',
    summary: 'Serve live sessions over WebSockets. Needs the package ws',
  },
  'live-page': {
    type: 'boolean',
    summary: 'Serve a page with microphone and speakers under /live/. Includes --live',
  },
  'live-connections': {
    type: 'string',
    value: 'N',
    summary: 'Live calls per key at a time. Default: 10',
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
  quotas: {
    type: 'string',
    value: 'FILE',
    summary: 'A JSON file with the quotas of the workspaces. Default: no quotas',
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
      'The IP address or range of a trusted proxy, whose x-forwarded-for header names the client: 10.0.0.1, 10.0.0.0/8',
  },
  'drain-timeout': {
    type: 'string',
    value: 'TIME',
    summary:
      'How long running calls may take after SIGTERM, before they are aborted: 2m. Default: 30s; 0 aborts at once',
  },
  imports: {
    type: 'boolean',
    summary: 'Let keys with the scope import add sessions of journal files: see petrichor import',
  },
  'max-import': {
    type: 'string',
    value: 'BYTES',
    summary: 'The largest journal file that is imported. Default: 67108864',
  },
  dispatch: {
    type: 'string',
    value: 'restate=URL',
    summary:
      'Restate sends sessions to the servers: the URL of its ingress. Needs the package @restatedev/restate-sdk. Default: servers find sessions in the store',
  },
  'dispatch-listen': {
    type: 'string',
    value: 'ADDRESS:PORT',
    summary:
      'Where Restate calls this server. Default: 127.0.0.1:9080. Another address needs --dispatch-key',
  },
  'dispatch-key': {
    type: 'string',
    value: 'KEY',
    multiple: true,
    summary: "A public key of Restate's request identity: publickeyv1_…. Only that server may call",
  },
  'dispatch-timeout': {
    type: 'string',
    value: 'TIME',
    summary:
      'How long Restate waits for a server that drives a session, before it calls another one: 5m. Default: 10m',
  },
  retention: {
    type: 'string',
    value: 'FILE',
    summary:
      'A JSON file that says how long sessions are kept: see petrichor retain. Default: they are kept',
  },
  archive: archiveOption,
  workers: {
    type: 'string',
    value: 'N',
    summary: 'Processes that share the port and the store, to use more cores: 2. Default: 1',
  },
};

export type ServeCall = CommandCall<ServeOptions>;

/** The options of `petrichor mcp`. */
export const servedOptions: ServedOptions = {
  store: storeOption,
  'listen-store': serveOptions['listen-store'],
  app: serveOptions.app,
  sandbox: serveOptions.sandbox,
  'web-host': serveOptions['web-host'],
  'model-origin': serveOptions['model-origin'],
};

export type ServedCall = CommandCall<ServedOptions>;

/** The options of the store of a served runtime. */
export function toStoreOptions(values: ServedCall['values']): StoreOptions {
  return omitUndefined({ listenUrl: values['listen-store'] });
}

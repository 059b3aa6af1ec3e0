import type { Rule } from './rules.ts';

/**
 * Every module that can open network connections, and who chooses the target. New modules must be
 * added here. Where an API caller or a model can choose the target, the request goes through
 * `src/egress/`, and `test/security/outgoing-requests.test.ts` tests it.
 */
export const OUTGOING: Readonly<Record<string, string>> = {
  'src/egress/resolve-allowed-address.ts': 'the rule itself: resolves names',
  'src/egress/fetch-within-origin.ts': 'the rule itself: redirects',
  'src/egress/pinned-request.ts': 'the rule itself: connects to the address that was checked',
  'src/egress/public-address.ts': 'the rule itself: reads addresses',
  'src/models/resolve-model.ts': 'callers, within modelOrigins; through src/egress/',
  'src/models/reference/load-provider.ts': 'is given the fetch of resolve-model.ts',
  'src/models/provider/gemini-context-cache.ts': 'is given the fetch of resolve-model.ts',
  'src/live/models/socket/live-socket.ts':
    'callers, within modelOrigins; at the address of the rule of live-access.ts',
  'src/live/models/socket/ws-package.d.ts': 'nobody: it declares the types of a package',
  'src/agents/remote/a2a-client.ts':
    'the program, and a card from outside; through src/egress/, at the origin of the card or at listed hosts',
  'src/tools/mcp/mcp-source.ts': 'callers; through src/egress/',
  'src/tools/mcp/vocabulary/mcp-sdk.ts':
    'is given the fetch of mcp-source.ts, or that of a program',
  'src/tools/mcp/transport/bounded-fetch.ts': 'is given the fetch of open-transport.ts',
  'src/tools/mcp/transport/open-transport.ts':
    'is given the fetch of mcp-source.ts, or that of a program',
  'src/tools/mcp/auth/authorization-flow.ts': 'is given the fetch of open-transport.ts',
  'src/tools/built-in/web/brave-search.ts': 'the program: one fixed origin, no redirect',
  'src/tools/openapi/rest-caller.ts': 'a model, at listed origins; through src/egress/',
  'src/tools/artifacts/gcs/gcs-artifact-service.ts': 'the program: its bucket',
  'src/tools/artifacts/s3/s3-object-store.ts': 'the program: its bucket',
  'src/adk/vertex-ai/agent-engine.ts': 'the program: its Agent Engine',
  'src/interop/restate/restate-ingress.ts': 'the program: its Restate server, no redirect',
  'src/interop/restate/restate-endpoint.ts': 'nobody: it listens',
  'src/store/postgres/database.ts': 'the program: its database',
  'src/store/mysql/database.ts': 'the program: its database',
  'src/store/sqlite/owners/owner-socket.ts':
    'nobody: local sockets beside the database, over which nothing is sent',
  'src/server/listen.ts': 'nobody: it listens',
  'src/server/live/live-endpoint.ts': 'nobody: it accepts WebSockets',
  'src/server/live/client-socket.ts': 'nobody: it is given the WebSocket of live-endpoint.ts',
  'src/server/live/socket-route.ts': 'nobody: it names the type of the WebSocket',
  'src/server/live/socket-watch.ts': 'nobody: it is given the WebSocket of live-endpoint.ts',
  'src/server/protocols/adk/run-live-socket.ts':
    'nobody: it is given the WebSocket of live-endpoint.ts',
  'src/server/protocols/mcp/mcp-server-sdk.ts': 'nobody: it answers requests',
  'src/server/serve-mcp-stdio.ts': 'nobody: it answers requests, over stdio',
  'src/server/protocols/a2a/a2a-sdk.ts':
    'nobody: it answers requests; push messages go through the sender of webhooks',
  'src/server/http/origin-guard.ts': 'nobody: it reads addresses',
  'src/server/http/trusted-proxies.ts': 'nobody: it reads addresses',
  'src/cli/serve/session-router.ts': 'nobody: local sockets of the workers of this server',
  'src/client/create-client.ts': 'the program: its server',
  'src/client/http-caller.ts': 'the program: its server',
};

const MODULES: ReadonlySet<string> = new Set(
  'http https http2 net tls dgram dns dns/promises undici ws axios got node-fetch'.split(' '),
);
const PACKAGES =
  /^(?:@ai-sdk\/(?!provider$)|pg$|mysql2(?:\/|$)|@aws-sdk\/|@google-cloud\/|@modelcontextprotocol\/|@a2a-js\/|@hono\/node-server$)/;
const GLOBALS = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'];

/** Only the listed modules can open network connections, and each listed module exists. */
export const onlyListedModulesReachOut =
  (listed: Readonly<Record<string, string>>): Rule =>
  ({ files, modules }) => {
    const paths = new Set(files.map(({ path }) => path));
    const found = modules
      .filter(({ path }) => /^src\/.*(?<!\.test)\.ts$/.test(path) && !(path in listed))
      .flatMap(({ path, names, imports }) =>
        [
          ...GLOBALS.filter((name) => names.has(name)),
          ...imports
            .filter(({ typeOnly }) => !typeOnly)
            .map(({ specifier }) => specifier)
            .filter((name) => MODULES.has(name.replace('node:', '')) || PACKAGES.test(name)),
        ].map((name) => `${path} uses ${name}: a request goes through src/egress/, or is listed`),
      );
    const gone = Object.keys(listed).filter((path) => !paths.has(path));
    return [...found, ...gone.map((path) => `${path} is listed and not there`)];
  };

import { UsageError } from '../command/usage-error.ts';

/** Flags of ADK's command line that have no meaning here, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  '--verbose': 'Nothing is logged here. Use --debug for the stack of an error, or --console.',
  '--log_level': 'Nothing is logged here. Use --debug for the stack of an error, or --console.',
  '--artifact_service_uri':
    'Artifacts are kept in memory. Give an artifactService to a Runner in a program of your own.',
  '--otel_to_cloud': 'Export an App with an OpenTelemetryPlugin, which sends traces anywhere.',
  '--compile': 'Node runs TypeScript files itself.',
  '--bundle': 'Node runs TypeScript files itself.',
  '--file_type': 'Node reads the type of a file from its name and its package.json.',
  '--a2a_auth_token': 'The keys of the server guard every protocol: petrichor keys create.',
  '--reload_agents': 'petrichor dev FILE reloads the file when it changes.',
};

/** Flags with an optional value: `--a2a`, `--a2a true`, `--a2a=false`. */
const SWITCHES: ReadonlySet<string> = new Set([
  '--save_session',
  '--a2a',
  '--verbose',
  '--otel_to_cloud',
  '--compile',
  '--bundle',
  '--reload_agents',
]);

/**
 * Brings a command line of ADK into the form of this program: switches without a value, and `--port` for `-p`.
 * @throws UsageError for a flag that has no meaning here, with the reason
 */
export function normalizeAdkArgs(args: readonly string[]): readonly string[] {
  const normalized: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (arg === '--') return [...normalized, ...args.slice(index)];
    const [flag = '', ...rest] = arg === '-p' ? ['--port'] : arg.split('=');
    const inline = rest.length === 0 ? undefined : rest.join('=');
    if (!SWITCHES.has(flag)) {
      checkFlag(flag);
      normalized.push(arg === '-p' ? flag : arg);
      continue;
    }
    const next = args[index + 1];
    const value = inline ?? (next !== undefined && isBoolean(next) ? next : undefined);
    if (inline === undefined && value !== undefined) index++;
    if (value === 'false' || value === '0') continue;
    checkFlag(flag);
    normalized.push(flag);
  }
  return normalized;
}

function checkFlag(flag: string): void {
  const reason = REFUSED[flag];
  if (reason !== undefined) throw new UsageError(`${flag} is not supported. ${reason}`, 'adk');
}

function isBoolean(text: string): boolean {
  return ['true', 'false', '1', '0'].includes(text);
}

/**
 * Translates the flags of `adk web` and `adk api_server` to options of `petrichor serve`.
 * @throws UsageError for a flag that has no meaning here, and a URI of another store
 */
export function toServeArgs(args: readonly string[]): readonly string[] {
  const translated: string[] = [];
  let hasA2a = false;
  const normalized = normalizeAdkArgs(args);
  for (let index = 0; index < normalized.length; index++) {
    const arg = normalized[index] ?? '';
    const [flag = '', ...rest] = arg.split('=');
    const readValue = (): string => {
      const value = rest.length > 0 ? rest.join('=') : normalized[++index];
      if (value === undefined) throw new UsageError(`${flag} has no value.`, 'adk');
      return value;
    };
    if (flag === '--a2a') hasA2a = true;
    else if (flag === '--allow_origins')
      translated.push(...readValue().split(',').filter(Boolean).flatMap(toOrigin));
    else if (flag === '--session_service_uri') translated.push('--store', toStoreUrl(readValue()));
    else translated.push(arg);
  }
  const names = ['managed', 'adk', ...(hasA2a ? ['a2a'] : [])].join(',');
  const hasProtocols = translated.some((arg) => /^--protocols(?:=|$)/.test(arg));
  if (hasProtocols && hasA2a)
    throw new UsageError('Name a2a among the --protocols, or use --a2a without them.', 'adk');
  return hasProtocols ? translated : [...translated, '--protocols', names];
}

function toOrigin(origin: string): readonly string[] {
  return ['--allow-origin', origin.trim()];
}

/** The store of a session service URI of ADK: `memory://`, `sqlite://…`, `postgres://…`, `mysql://…`, `mariadb://…`. */
export function toStoreUrl(uri: string): string {
  if (uri === 'memory://') return 'memory:';
  if (/^(?:sqlite|postgres|mysql|mariadb)/.test(uri)) return uri;
  throw new UsageError(
    `--session_service_uri must be memory://, sqlite://…, postgres://…, mysql://… or mariadb://…; it begins with "${uri.split(':', 1)[0] ?? ''}:".`,
    'adk',
  );
}

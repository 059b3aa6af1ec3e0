import { statSync } from 'node:fs';
import { platform } from 'node:os';
import { resolve } from 'node:path';
import type { ManagedRuntime } from '../../managed/index.ts';
import type { AuditLine, Server, SessionFailure } from '../../server/index.ts';
import { describeStoreUrl, parseStoreUrl } from '../../store/internal.ts';
import { createPaint } from '../terminal/paint.ts';
import { oneLine, printable } from '../terminal/printable.ts';
import type { ServeCall, ServedCall } from './serve-options.ts';
import type { ServedCode } from './served-agents.ts';
import type { RejectedExport } from '../loading/exported-agents.ts';
import { DEFAULT_STORE } from '../command/shared-options.ts';

interface AnnouncedAgent {
  readonly id: string;
  readonly kind: keyof typeof KIND_NAMES;
  readonly name: string;
}

const KIND_NAMES = { definition: 'definition', agent: 'agent()', app: 'ADK app' } as const;

/** Writes the address of the server, whether it needs a key, and its agents. */
export async function announce(
  { values, stdout, env }: ServeCall,
  {
    url,
    server,
    runtime,
    code,
  }: {
    readonly url: string;
    readonly server: Server;
    readonly runtime: ManagedRuntime;
    readonly code: readonly ServedCode[];
  },
): Promise<void> {
  const store = describeStoreUrl(values.store ?? DEFAULT_STORE);
  const needsKey = await server.keys.hasActiveKey();
  const { data } = await runtime.listAgents({ limit: 100 });
  const kinds = new Map(code.map(({ id, kind }) => [id, kind]));
  // An agent that an earlier program defined is stored, but not served.
  const agents = data.flatMap((agent): readonly AnnouncedAgent[] => {
    if (agent.source === 'definition')
      return [{ id: agent.id, kind: 'definition', name: agent.definition.name }];
    const kind = kinds.get(agent.id);
    return kind === undefined ? [] : [{ id: agent.id, kind, name: agent.description.name }];
  });
  if (values.json) {
    const ids = agents.map(({ id }) => id);
    stdout.write(
      `${JSON.stringify({ type: 'serving', url, store, needsKey, agents: ids, served: agents })}\n`,
    );
    return;
  }
  const paint = createPaint(stdout, env);
  const access = needsKey
    ? 'A key is required.'
    : 'No key is required: only this machine can call.';
  stdout.write(`Serving on ${paint('bold', url)} from ${printable(store)}. ${access}\n`);
  if (values.console) stdout.write(`Console: ${paint('bold', `${url}/console/`)}\n`);
  for (const { id, kind, name } of agents)
    stdout.write(
      `  ${paint('cyan', id)}  ${oneLine(name, 200)}  ${paint('dim', KIND_NAMES[kind])}\n`,
    );
}

/** Writes an audit line. */
export function writeAudit({ values, stdout }: ServeCall, line: AuditLine): void {
  if (values.json) {
    stdout.write(`${JSON.stringify({ type: 'audit', ...line })}\n`);
    return;
  }
  const { at, method, path, status, workspace, keyId, requestId } = line;
  const time = new Date(at).toISOString();
  const caller = workspace === '' ? '-' : `${workspace}/${keyId}`;
  stdout.write(`${time} ${method} ${printable(path)} ${status} ${caller} ${requestId}\n`);
}

/** A client receives only the reference of a failure. Here it is written with the reason. */
export function writeFailure({ values, stderr }: ServedCall, failure: SessionFailure): void {
  const { reference, code, message } = failure;
  stderr.write(
    values.json
      ? `${JSON.stringify({ type: 'failure', ...failure })}\n`
      : `${printable(reference)} ${code}: ${oneLine(message, 2000)}\n`,
  );
}

/**
 * Warns about a store file that other users of the machine can read, such as one created by an
 * earlier version.
 */
export function warnIfReadableByOthers({ cwd, stderr }: ServedCall, url: string): void {
  const parsed = parseStoreUrl(url);
  if (parsed.kind !== 'sqlite' || platform() === 'win32') return;
  const mode = statSync(resolve(cwd, parsed.file)).mode & 0o777;
  if ((mode & 0o077) !== 0)
    stderr.write(
      `${printable(parsed.file)} can be read by other users (mode ${mode.toString(8)}). Run chmod 600 unless that is intended.\n`,
    );
}

/** Warns about models without an API key. */
export function warnAboutKeys(call: ServedCall, messages: readonly string[]): void {
  for (const message of messages) warn(call, 'missing_key', message);
}

/** Warns about exports of the file that are not served. */
export function warnAboutExports(
  call: ServedCall,
  file: string,
  leftOut: readonly RejectedExport[],
): void {
  for (const { label, reason } of leftOut)
    warn(call, 'export_left_out', `${file}: ${label} is not served. It ${reason}`);
}

function warn(
  { values, stderr }: ServedCall,
  code: 'missing_key' | 'export_left_out',
  message: string,
): void {
  stderr.write(
    values.json
      ? `${JSON.stringify({ type: 'warning', code, message })}\n`
      : `Warning: ${oneLine(message, 2000)}\n`,
  );
}

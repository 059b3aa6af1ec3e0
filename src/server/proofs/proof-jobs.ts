import { omitUndefined } from '../../core/internal.ts';
import type { JsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { readTwoWayPage } from '../auth/two-way-page.ts';
import type { IndexPage, IndexQuery } from '../auth/two-way-page.ts';
import { HttpError, notFound } from '../http/http-error.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import type { ProofSettings } from './proof-options.ts';
import { ProofOwners } from './proof-owners.ts';
import { startProofProcess } from './proof-process.ts';
import type { ProofEnd, ProofProcess, ProofTask } from './proof-process.ts';
import { isEnded, parseStoredProof, toStoredJson } from './stored-proof.ts';
import type { StoredProof } from './stored-proof.ts';
import { toProofReport, toProofResult, toText } from './to-proof-result.ts';

const KIND = 'proof';
/** How many proofs of a workspace are kept. */
const KEPT = 100;
/** How often a stream reads a proof that another server runs, in milliseconds. */
const POLL_MS = 1000;

interface ProofJobsOptions {
  /** Undefined: no proof is started, and those of the store are read. */
  readonly settings: ProofSettings | undefined;
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly onError: (error: unknown) => void;
}

/** A new proof. */
export interface ProofRequest extends Omit<ProofTask, 'properties'> {
  readonly id: string;
  readonly agentId: string;
  readonly properties: readonly { readonly name: string; readonly text: string }[];
}

type ProofChange = Wire<'ProofChange'>;

/** A proof that this server runs, or will run. */
class ProofJob {
  readonly workspace: string;
  readonly task: ProofTask;
  readonly listeners: Set<(change: ProofChange) => void> = new Set();
  proof: Wire<'Proof'>;
  run: ProofProcess | undefined;
  /** The last write of the proof. */
  saved: Promise<void> = Promise.resolve();

  constructor(workspace: string, task: ProofTask, proof: Wire<'Proof'>) {
    this.workspace = workspace;
    this.task = task;
    this.proof = proof;
  }

  emit(change: ProofChange): void {
    for (const listener of this.listeners) listener(change);
  }
}

/**
 * Runs proofs one after another in child processes, and stores them. A proof that this server does not run is read from
 * the store; if the server that ran it has ended, it is interrupted.
 */
export class ProofJobs {
  readonly #options: ProofJobsOptions;
  readonly #owner: string;
  readonly #owners: ProofOwners;
  /** Proofs that have not ended, by workspace and id, in the order of their start. */
  readonly #jobs: Map<string, ProofJob> = new Map();
  #isClosed = false;

  constructor(options: ProofJobsOptions) {
    this.#options = options;
    this.#owner = options.newId('server');
    this.#owners = new ProofOwners(options.documents, options.clock, this.#owner);
  }

  /**
   * Starts a proof, or queues it. If a proof has the id, returns that one.
   * @throws HttpError 403 if this server runs no proofs
   * @throws HttpError 429 if the workspace has as many unfinished proofs as it may have
   */
  async start(
    workspace: string,
    { id, agentId, properties, agentName, bounds }: ProofRequest,
  ): Promise<Wire<'Proof'>> {
    const stored = await this.find(workspace, id);
    const existing = this.#jobs.get(toKey(workspace, id))?.proof ?? stored;
    if (existing !== undefined) return existing;
    this.checkEnabled();
    this.#checkCapacity(workspace);
    const { clock, onError } = this.#options;
    const proof: Wire<'Proof'> = {
      type: 'proof',
      id,
      agent_id: agentId,
      net_hash: null,
      status: 'queued',
      properties: properties.map(({ name }) => name),
      bounds,
      states: 0,
      results: [],
      report: null,
      error: null,
      created_at: toWireTime(clock.now()),
      ended_at: null,
    };
    const task = { agentName, properties: properties.map(({ text }) => text), bounds };
    const job = new ProofJob(workspace, task, proof);
    // Registered before the first write, so that concurrent requests count it.
    this.#jobs.set(toKey(workspace, id), job);
    try {
      await this.#owners.begin(async () => this.#readCancellations(), onError);
      await this.#save(job);
      await this.#prune(workspace);
    } catch (error) {
      this.#jobs.delete(toKey(workspace, id));
      throw error;
    }
    this.#startNext();
    return job.proof;
  }

  /** @throws HttpError 403 if this server runs no proofs */
  checkEnabled(): void {
    if (this.#options.settings !== undefined) return;
    throw new HttpError(
      403,
      'This server runs no proofs. Start it with petrichor dev, with petrichor serve --console, or with the option `proofs` of createServer.',
      {
        details: {
          /**
           * The server was started without the option `proofs`.
           * @remedy Use `petrichor dev`, `petrichor serve --console`, or the option `proofs` of `createServer`.
           */
          error_code: 'proofs_disabled',
        },
      },
    );
  }

  /** @throws HttpError 404 */
  async get(workspace: string, id: string): Promise<Wire<'Proof'>> {
    const found = await this.find(workspace, id);
    if (found === undefined) throw notFound('proof', id);
    return found;
  }

  async find(workspace: string, id: string): Promise<Wire<'Proof'> | undefined> {
    const job = this.#jobs.get(toKey(workspace, id));
    if (job !== undefined) return job.proof;
    const document = await this.#options.documents.document(KIND, toKey(workspace, id));
    const stored = parseStoredProof(document?.value);
    return stored === undefined ? undefined : this.#toProof(stored);
  }

  /** The proofs of a workspace, newest first by default. */
  async list(
    workspace: string,
    query: IndexQuery,
    agentId: string | undefined,
  ): Promise<IndexPage<Wire<'Proof'>>> {
    const prefix = `${workspace}/`;
    return readTwoWayPage(
      query,
      async ({ after, isAscending, limit }) => {
        const documents = await this.#options.documents.documents({
          kind: KIND,
          prefix,
          order: isAscending ? 'ascending' : 'descending',
          limit,
          ...omitUndefined({ after: after === undefined ? undefined : `${prefix}${after}` }),
        });
        return documents.map((document) => ({
          ...document,
          cursor: document.id.slice(prefix.length),
        }));
      },
      async ({ id, value }) => {
        const stored = parseStoredProof(value);
        if (stored === undefined) return undefined;
        if (agentId !== undefined && stored.proof.agent_id !== agentId) return undefined;
        return this.#jobs.get(id)?.proof ?? this.#toProof(stored);
      },
    );
  }

  /**
   * Ends a proof. Its results so far stay. A proof that has ended is not changed.
   * @throws HttpError 404
   */
  async cancel(workspace: string, id: string): Promise<Wire<'Proof'>> {
    const job = this.#jobs.get(toKey(workspace, id));
    if (job !== undefined) {
      await this.#end(job, { status: 'canceled' });
      return job.proof;
    }
    const proof = await this.get(workspace, id);
    if (isEnded(proof)) return proof;
    // The server that runs it reads this.
    const canceled = { ...proof, ...this.#ended('canceled') };
    return this.#write(toKey(workspace, id), (stored) => ({
      owner: stored?.owner ?? '',
      proof:
        stored === undefined || isEnded(stored.proof)
          ? canceled
          : { ...stored.proof, ...this.#ended('canceled') },
    }));
  }

  /**
   * The proof, then its changes until it has ended.
   * @throws HttpError 404
   */
  async *changes(
    workspace: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<ProofChange, void, undefined> {
    const job = this.#jobs.get(toKey(workspace, id));
    if (job === undefined || isEnded(job.proof)) {
      yield* this.#poll(workspace, id, signal);
      return;
    }
    const waiting: ProofChange[] = [{ type: 'proof.state', proof: job.proof }];
    let arrival = Promise.withResolvers<void>();
    const listener = (change: ProofChange): void => {
      // Only the latest progress counts.
      if (waiting.at(-1)?.type === 'proof.progress' && change.type === 'proof.progress')
        waiting.pop();
      waiting.push(change);
      arrival.resolve();
    };
    const onAbort = (): void => arrival.resolve();
    job.listeners.add(listener);
    signal.addEventListener('abort', onAbort);
    try {
      while (!signal.aborted) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          yield next;
          if (next.type === 'proof.ended') return;
        }
        await arrival.promise;
        arrival = Promise.withResolvers();
      }
    } finally {
      job.listeners.delete(listener);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends all processes. Their proofs are interrupted. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#jobs.values())
      await this.#end(job, { status: 'interrupted' }, 'SIGKILL').catch(this.#options.onError);
    await this.#owners.end().catch(this.#options.onError);
  }

  /** @throws HttpError 429 if the workspace has as many unfinished proofs as it may have */
  #checkCapacity(workspace: string): void {
    const perWorkspace = this.#options.settings?.perWorkspace ?? 0;
    const unfinished = [...this.#jobs.values()].filter((job) => job.workspace === workspace);
    if (unfinished.length < perWorkspace) return;
    throw new HttpError(
      429,
      `This workspace has ${unfinished.length} unfinished proofs, as many as it may have. Wait until one ends, or cancel one.`,
      { retryAfterSeconds: 10 },
    );
  }

  #startNext(): void {
    const { settings } = this.#options;
    if (this.#isClosed || settings === undefined) return;
    const { concurrency } = settings;
    const jobs = [...this.#jobs.values()];
    const running = jobs.filter(({ run }) => run !== undefined).length;
    const waiting = jobs.filter(({ proof, run }) => run === undefined && !isEnded(proof));
    for (const job of waiting.slice(0, Math.max(0, concurrency - running)))
      this.#run(job, settings);
  }

  #run(job: ProofJob, settings: ProofSettings): void {
    const { clock, onError } = this.#options;
    job.proof = { ...job.proof, status: 'running' };
    job.run = startProofProcess(settings, job.task, {
      clock,
      onError,
      onLine: (line) => this.#onLine(job, line),
    });
    job.emit({ type: 'proof.state', proof: job.proof });
    this.#saveLater(job);
    void job.run.ended
      .then(async (end) => this.#end(job, toOutcome(job, end)))
      .catch(onError)
      .finally(() => {
        this.#jobs.delete(toKey(job.workspace, job.proof.id));
        if (this.#jobs.size === 0 && !this.#isClosed) void this.#owners.end().catch(onError);
        this.#startNext();
      });
  }

  #onLine(job: ProofJob, line: JsonObject): void {
    if (isEnded(job.proof)) return;
    switch (line['type']) {
      case 'start':
        job.proof = { ...job.proof, net_hash: toText(line['hash']) };
        job.emit({ type: 'proof.state', proof: job.proof });
        break;
      case 'progress': {
        const { states, properties } = line;
        job.proof = { ...job.proof, states: Number(states) };
        job.emit({
          type: 'proof.progress',
          states: Number(states),
          properties: Array.isArray(properties) ? properties.map(toText) : [],
        });
        break;
      }
      case 'property': {
        const result = toProofResult(line);
        job.proof = { ...job.proof, results: [...job.proof.results, result] };
        job.emit({ type: 'proof.result', result });
        this.#saveLater(job);
        break;
      }
      case 'rules':
      case 'report':
        job.proof = { ...job.proof, report: toProofReport(line, job.proof.report) };
        break;
      default:
    }
  }

  /** Ends a proof, unless it has ended, and its process. */
  async #end(
    job: ProofJob,
    end: Partial<Wire<'Proof'>> & Pick<Wire<'Proof'>, 'status'>,
    signal?: 'SIGKILL',
  ): Promise<void> {
    if (!isEnded(job.proof)) {
      const report = end.status === 'done' ? job.proof.report : null;
      job.proof = { ...job.proof, ...end, report, ...this.#ended(end.status) };
      this.#saveLater(job);
      job.emit({ type: 'proof.ended', proof: job.proof });
      if (job.run === undefined) this.#jobs.delete(toKey(job.workspace, job.proof.id));
      job.run?.stop(signal);
    }
    await job.saved;
  }

  #ended<S extends Wire<'Proof'>['status']>(
    status: S,
  ): { readonly status: S; readonly ended_at: string } {
    return { status, ended_at: toWireTime(this.#options.clock.now()) };
  }

  #saveLater(job: ProofJob): void {
    job.saved = job.saved.then(async () => this.#save(job)).catch(this.#options.onError);
  }

  async #save(job: ProofJob): Promise<void> {
    await this.#write(toKey(job.workspace, job.proof.id), (stored) => {
      // Another server has canceled it.
      if (stored !== undefined && isEnded(stored.proof) && !isEnded(job.proof)) return stored;
      return { owner: this.#owner, proof: job.proof };
    });
  }

  async #write(
    key: string,
    change: (stored: StoredProof | undefined) => StoredProof,
  ): Promise<Wire<'Proof'>> {
    const { documents } = this.#options;
    for (;;) {
      const document = await documents.document(KIND, key);
      const changed = change(parseStoredProof(document?.value));
      const version = document?.version ?? 0;
      const value = toStoredJson(changed);
      const { ok } = await documents.writeDocuments([{ kind: KIND, id: key, version, value }]);
      if (ok) return changed.proof;
    }
  }

  /** Ends the proofs that were canceled through another server. */
  async #readCancellations(): Promise<void> {
    for (const [key, job] of this.#jobs) {
      const stored = parseStoredProof((await this.#options.documents.document(KIND, key))?.value);
      if (stored?.proof.status === 'canceled') await this.#end(job, { status: 'canceled' });
    }
  }

  /** Removes the oldest proofs of a workspace. */
  async #prune(workspace: string): Promise<void> {
    const { documents } = this.#options;
    const prefix = `${workspace}/`;
    const found = await documents.documents({ kind: KIND, prefix, order: 'descending' });
    const old = found.slice(KEPT).filter(({ id }) => !this.#jobs.has(id));
    for (const { id, version } of old)
      await documents.writeDocuments([{ kind: KIND, id, version }]);
  }

  async #toProof({ proof, owner }: StoredProof): Promise<Wire<'Proof'>> {
    if (isEnded(proof)) return proof;
    const isRunning = owner !== this.#owner && (await this.#owners.isAlive(owner));
    return isRunning ? proof : { ...proof, status: 'interrupted' };
  }

  async *#poll(
    workspace: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<ProofChange, void, undefined> {
    const { clock } = this.#options;
    let proof = await this.get(workspace, id);
    yield { type: 'proof.state', proof };
    while (!isEnded(proof) && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const cancel = clock.at(clock.now() + POLL_MS, resolve);
        signal.addEventListener('abort', () => (cancel(), resolve()), { once: true });
      });
      const known = proof.results.length;
      proof = await this.get(workspace, id);
      for (const result of proof.results.slice(known)) yield { type: 'proof.result', result };
    }
    if (isEnded(proof)) yield { type: 'proof.ended', proof };
  }
}

function toOutcome(
  { proof }: ProofJob,
  end: ProofEnd,
): Partial<Wire<'Proof'>> & Pick<Wire<'Proof'>, 'status'> {
  if (!end.ok) return { status: 'failed', error: end.error };
  return { status: 'done', net_hash: proof.report?.net_hash ?? proof.net_hash };
}

function toKey(workspace: string, id: string): string {
  return `${workspace}/${id}`;
}

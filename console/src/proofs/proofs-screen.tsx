import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Proof } from '../api/types.ts';
import { client, config, readOnly } from '../state/connection.ts';
import { navigate, route, toHref } from '../state/route.ts';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { followProof } from './follow-proof.ts';
import type { FollowedProof } from './follow-proof.ts';
import { NewProof } from './new-proof.tsx';
import { ProofBadge, ProofView } from './proof-view.tsx';

/** Proofs of the nets of agents: run one, watch it, and play what refutes a property. */
export function ProofsScreen(): JSX.Element {
  const { segments, query } = route.value;
  const [, chosenId] = segments;
  const agentId = query.get('new') ?? undefined;
  const isNew = useSignal(agentId !== undefined);
  const { proofs, error, reload } = useProofs();
  const id = chosenId ?? proofs?.[0]?.id;
  const canRun = config.value.proofs && !readOnly.value;
  return (
    <section class="screen proofs">
      <header class="screen-head">
        <h1>Proofs</h1>
        <span class="grow" />
        {canRun && (
          <button type="button" class="button primary" onClick={() => (isNew.value = true)}>
            <Icon name="proofs" /> New proof
          </button>
        )}
      </header>
      {error !== undefined ? (
        <Failure error={error} />
      ) : proofs === undefined ? (
        <Loading rows={5} />
      ) : id === undefined ? (
        <NoProofs canRun={canRun} onNew={() => (isNew.value = true)} />
      ) : (
        <div class="columns">
          <ProofList proofs={proofs} chosen={id} />
          <FollowedView key={id} id={id} onEnded={reload} />
        </div>
      )}
      {isNew.value && (
        <NewProof
          agentId={agentId}
          onClose={() => (isNew.value = false)}
          onStarted={(proof) => {
            reload();
            navigate(toHref(['proofs', proof.id]));
          }}
        />
      )}
    </section>
  );
}

function NoProofs({
  canRun,
  onNew,
}: {
  readonly canRun: boolean;
  readonly onNew: () => void;
}): JSX.Element {
  return (
    <EmptyState icon="proofs" title="No proof yet">
      <p>
        A proof explores every order of events, every outcome and every failure of an agent, within
        bounds. No model and no tool is called. A property that does not hold comes with the steps
        that break it.
      </p>
      {canRun ? (
        <button type="button" class="button primary" onClick={onNew}>
          <Icon name="proofs" /> Prove an agent
        </button>
      ) : (
        !config.value.proofs && (
          <p>
            This server runs no proofs. Start it with <code>petrichor dev</code>, or run{' '}
            <code>petrichor prove</code>.
          </p>
        )
      )}
    </EmptyState>
  );
}

function ProofList({
  proofs,
  chosen,
}: {
  readonly proofs: readonly Proof[];
  readonly chosen: string;
}): JSX.Element {
  return (
    <nav class="side-list" aria-label="Proofs">
      {proofs.map((proof) => (
        <a
          key={proof.id}
          href={toHref(['proofs', proof.id])}
          aria-current={proof.id === chosen ? 'true' : undefined}
        >
          <strong>{proof.agent_id.replace(/^agent_/u, '')}</strong>
          <small class="muted">
            <RelativeTime at={proof.created_at} />
          </small>
          <ProofBadge proof={proof} />
        </a>
      ))}
    </nav>
  );
}

function FollowedView({
  id,
  onEnded,
}: {
  readonly id: string;
  readonly onEnded: () => void;
}): JSX.Element {
  const [followed, setFollowed] = useState<FollowedProof | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    setFollowed(followProof(client.value, id, controller.signal));
    return () => controller.abort();
  }, [id, client.value]);
  const proof = followed?.proof.value;
  const ended = proof?.ended_at ?? undefined;
  useEffect(() => {
    if (ended !== undefined) onEnded();
  }, [ended]);
  if (followed?.error.value !== undefined) return <Failure error={followed.error.value} />;
  if (followed === undefined || proof === undefined) return <Loading rows={6} />;
  return <ProofView proof={proof} deciding={followed.deciding.value} />;
}

function useProofs(): {
  readonly proofs: readonly Proof[] | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
} {
  const [proofs, setProofs] = useState<readonly Proof[] | undefined>(undefined);
  const [error, setError] = useState<Error | undefined>(undefined);
  const [count, setCount] = useState(0);
  useEffect(() => {
    client.value
      .call<{ readonly data: readonly Proof[] }>('GET', '/v1/proofs', { query: { limit: 100 } })
      .then(({ data }) => setProofs(data))
      .catch((cause: unknown) => {
        setError(cause instanceof Error ? cause : new Error(String(cause)));
      });
  }, [client.value, count]);
  return { proofs, error, reload: () => setCount((n) => n + 1) };
}

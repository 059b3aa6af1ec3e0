import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { client, readOnly } from '../state/connection.ts';
import { navigate, route, setQuery, toHref } from '../state/route.ts';
import { SaveJournal } from '../journal-file/save-journal.tsx';
import { StateBadge } from '../ui/badge.tsx';
import { Failure } from '../ui/empty-state.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { formatTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { act, showToast } from '../ui/toast.tsx';
import { useMedia } from '../ui/use-media.ts';
import { ChatPane } from './chat-pane.tsx';
import { textIn } from './chat-items.ts';
import type { MessageItem } from './chat-items.ts';
import { Inspector } from './inspector.tsx';
import { NetPane } from './net-pane.tsx';
import { followSession } from './session-model.ts';
import type { SessionModel } from './session-model.ts';
import { Splitter } from './splitter.tsx';
import { Timeline } from './timeline.tsx';

const PANES = ['chat', 'net', 'inspector'] as const;
type Pane = (typeof PANES)[number];

/** One session: its chat, its net, its records, and the way through time. */
export function SessionScreen({ id }: { readonly id: string }): JSX.Element {
  const [opened, setOpened] = useState<SessionModel | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    const at = readRecord(route.peek().query.get('at'));
    setOpened(followSession(client.value, id, { aborted: controller.signal, at }));
    return () => controller.abort();
  }, [id, client.value]);
  return opened === undefined ? <></> : <OpenSession key={opened.id} model={opened} />;
}

export interface SessionFile {
  readonly note: string;
  readonly onClose: () => void;
}

/** Shows a session, or a journal file. */
export function OpenSession({
  model,
  file,
}: {
  readonly model: SessionModel;
  /** The file that it was read from. */
  readonly file?: SessionFile;
}): JSX.Element {
  const editing = useSignal<MessageItem | undefined>(undefined);
  const rewinding = useSignal<MessageItem | undefined>(undefined);
  const pane = useSignal<Pane>('chat');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const { pathname } = location;
    const stop = model.at.subscribe((at) => {
      // While the timeline is dragged, the address stays: a browser limits how often it may change.
      clearTimeout(timer);
      timer = setTimeout(() => {
        // The record belongs to this session: another one may be opened meanwhile.
        if (location.pathname === pathname) setQuery({ at });
      }, 150);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [model]);
  if (model.error.value !== undefined) return <Failure error={model.error.value} isScreen />;
  return (
    <section class={`session show-${pane.value}`}>
      <SessionHead model={model} file={file} />
      <PaneSwitch pane={pane} />
      <PastBanner model={model} />
      <div class="panes">
        <ChatPane
          model={model}
          onEdit={(message) => (editing.value = message)}
          onRewind={(message) => (rewinding.value = message)}
        />
        <Splitter name="chat" label="Width of the chat" />
        <NetPane model={model} />
        <Splitter name="inspector" label="Width of the inspector" isReversed />
        <Inspector model={model} />
      </div>
      <Timeline model={model} />
      {editing.value !== undefined && (
        <EditDialog
          model={model}
          message={editing.value}
          onClose={() => (editing.value = undefined)}
        />
      )}
      {rewinding.value !== undefined && (
        <RewindDialog
          model={model}
          message={rewinding.value}
          onClose={() => (rewinding.value = undefined)}
        />
      )}
    </section>
  );
}

/** Chooses the pane that is shown. Beside the chat there is room for one other: then only that one is chosen. */
function PaneSwitch({ pane }: { readonly pane: Signal<Pane> }): JSX.Element {
  const isNarrow = useMedia('(width < 760px)');
  const shown = pane.value === 'chat' && !isNarrow ? 'net' : pane.value;
  return (
    <div class="pane-switch" role="group" aria-label="Pane">
      {PANES.filter((one) => isNarrow || one !== 'chat').map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={shown === one}
          onClick={() => (pane.value = one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}

/** Says that an earlier moment is shown. It changes with each frame of a drag, and nothing around it does. */
function PastBanner({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const { isLive, record, current } = model.moment.value;
  if (isLive) return null;
  return (
    <p class="banner banner-past" role="status">
      <Icon name="rewind" />
      <span>
        As of record <strong>{record}</strong>
        {current !== undefined && ` at ${formatTime(current.at)}`}. The session itself is not
        changed.
      </span>
      <button type="button" class="button small" onClick={() => (model.at.value = undefined)}>
        {model.isFile ? 'To the last record' : 'Back to live'}
      </button>
    </p>
  );
}

function SessionHead({
  model,
  file,
}: {
  readonly model: SessionModel;
  readonly file: SessionFile | undefined;
}): JSX.Element {
  const session = model.session.value;
  const run = (action: 'pause' | 'resume' | 'archive'): void =>
    act(async () => {
      await client.value.sessions[action](model.id);
    });
  return (
    <header class="session-head">
      <a class="icon-button" href={toHref(['sessions'])} aria-label="All sessions">
        <Icon name="previous" />
      </a>
      <h1 title={model.id}>{redact(session?.title ?? model.id)}</h1>
      {session !== undefined && (
        <>
          <StateBadge session={session} />
          <span class="muted wide-only">
            {session.agent.name} v{session.agent.version}
          </span>
          {!model.isFile && session.forked_from != null && (
            <a
              class="muted wide-only"
              href={toHref(['s', session.forked_from.session_id], {
                at: session.forked_from.at_record ?? undefined,
              })}
            >
              <Icon name="fork" /> forked at record {session.forked_from.at_record}
            </a>
          )}
          {!model.isFile && session.forked_from != null && (
            <a
              class="button small wide-only"
              href={toHref(['compare', session.forked_from.session_id, model.id])}
            >
              <Icon name="compare" /> Compare
            </a>
          )}
        </>
      )}
      {file !== undefined && <span class="muted wide-only">{file.note}</span>}
      <span class="grow" />
      {file === undefined ? (
        <SaveJournal id={model.id} />
      ) : (
        <button type="button" class="button small" onClick={file.onClose}>
          Close the file
        </button>
      )}
      {!readOnly.value &&
        !model.isFile &&
        session !== undefined &&
        session.archived_at === null && (
          <>
            {session.paused ? (
              <button type="button" class="button small" onClick={() => run('resume')}>
                <Icon name="play" /> Resume
              </button>
            ) : (
              <button type="button" class="button small wide-only" onClick={() => run('pause')}>
                <Icon name="pause" /> Pause
              </button>
            )}
            <button
              type="button"
              class="icon-button wide-only"
              aria-label="Archive the session"
              title="Archive"
              onClick={() => run('archive')}
            >
              <Icon name="archive" />
            </button>
          </>
        )}
    </header>
  );
}

/** The session continues, as a fork, as if the message had been another. */
function EditDialog({
  model,
  message,
  onClose,
}: {
  readonly model: SessionModel;
  readonly message: MessageItem;
  readonly onClose: () => void;
}): JSX.Element {
  const text = useSignal(textIn(message.blocks));
  const fork = async (): Promise<void> => {
    const before = model.forkPoints.value.findLast((point) => point.up_to_seq < message.seq);
    const copy =
      before === undefined
        ? await client.value.sessions.create({ agent: model.session.value?.agent.id ?? '' })
        : await client.value.sessions.fork(model.id, before.up_to_seq);
    await client.value.sessions.send(copy.id, text.value);
    onClose();
    showToast('Forked before the message.');
    navigate(toHref(['s', copy.id]));
  };
  return (
    <FormDialog
      title="Say it another way"
      submit={
        <>
          <Icon name="fork" /> Fork and send
        </>
      }
      canSubmit={text.value.trim() !== ''}
      onSubmit={fork}
      onClose={onClose}
    >
      <p class="muted">
        A fork is made before this message, and the new text is said there. This session stays as it
        is.
      </p>
      <label>
        Message
        <textarea
          rows={5}
          value={text.value}
          onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        />
      </label>
    </FormDialog>
  );
}

function RewindDialog({
  model,
  message,
  onClose,
}: {
  readonly model: SessionModel;
  readonly message: MessageItem;
  readonly onClose: () => void;
}): JSX.Element {
  const gone = model.chat.value.items.filter(({ seq }) => seq >= message.seq);
  const rewind = async (): Promise<void> => {
    await client.value.sessions.rewind(model.id, message.id);
    onClose();
    showToast('Rewound. The log keeps everything.');
  };
  return (
    <FormDialog
      title="Rewind to before this message"
      submit={
        <>
          <Icon name="rewind" /> Rewind
        </>
      }
      onSubmit={rewind}
      onClose={onClose}
    >
      <p>The model will not see these any more. The log and the journal keep everything.</p>
      <ul class="gone">
        {gone.slice(0, 12).map((item) => (
          <li key={item.id}>
            {item.kind === 'message'
              ? `${item.from}: ${redact(textIn(item.blocks)).slice(0, 120)}`
              : item.kind === 'call'
                ? `call of ${item.name}`
                : item.text}
          </li>
        ))}
        {gone.length > 12 && <li class="muted">and {gone.length - 12} more</li>}
      </ul>
    </FormDialog>
  );
}

function readRecord(text: string | null): number | undefined {
  const record = text === null ? Number.NaN : Number(text);
  return Number.isSafeInteger(record) && record >= 0 ? record : undefined;
}

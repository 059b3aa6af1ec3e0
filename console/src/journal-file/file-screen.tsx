import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { OpenSession } from '../session/session-screen.tsx';
import { withMoment } from '../session/session-model.ts';
import type { SessionModel } from '../session/session-model.ts';
import { setQuery } from '../state/route.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { act } from '../ui/toast.tsx';
import { readJournalFile } from './read-journal-file.ts';
import type { JournalFile } from './read-journal-file.ts';

/** The file that is open. It stays while other screens are shown, and goes with the page. */
const opened = signal<OpenedFile | undefined>(undefined);

interface OpenedFile {
  readonly file: JournalFile;
  readonly model: SessionModel;
}

/** A journal file, like a session that cannot be changed. */
export function FileScreen(): JSX.Element {
  if (opened.value !== undefined) {
    const { file, model } = opened.value;
    return (
      <OpenSession
        model={model}
        file={{
          note: `${file.name}${file.isRedacted ? ', without values' : ''}`,
          onClose: () => {
            setQuery({ at: undefined });
            opened.value = undefined;
          },
        }}
      />
    );
  }
  const open = (files: FileList | null | undefined): void =>
    act(async () => {
      const [chosen] = files ?? [];
      if (chosen === undefined) return;
      const file = await readJournalFile(chosen);
      opened.value = { file, model: toModel(file) };
    });
  return (
    <section
      class="screen"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        open(event.dataTransfer?.files);
      }}
    >
      <header class="screen-head">
        <h1>Journal file</h1>
      </header>
      <EmptyState icon="upload" title="Open a journal file">
        <p>
          A file that was saved from the page of a session, or with{' '}
          <code>GET /v1/sessions/ID/journal</code>. It stays in this page: nothing is sent.
        </p>
        <label class="button primary">
          <Icon name="upload" /> Choose a file
          <input
            type="file"
            class="visually-hidden"
            accept=".jsonl,.json,text/plain"
            onChange={({ currentTarget }) => open(currentTarget.files)}
          />
        </label>
      </EmptyState>
    </section>
  );
}

function toModel({ session, net, history, events, forkPoints }: JournalFile): SessionModel {
  return withMoment({
    id: session.id,
    session: signal(session),
    events: signal(events),
    previews: signal([]),
    history,
    last: signal(history.last),
    net: signal(net),
    noNet: signal(
      net === undefined ? 'The agent was not known where the file was written.' : undefined,
    ),
    forkPoints: signal(forkPoints),
    error: signal(undefined),
    isFile: true,
  });
}

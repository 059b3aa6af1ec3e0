import { computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { ConsoleConfig } from '../api/config.ts';
import { createConsoleClient } from '../api/console-client.ts';
import type { ConsoleClient } from '../api/console-client.ts';
import { settings } from './settings.ts';

/** What the server says of itself. */
export const config: Signal<ConsoleConfig> = signal({
  server: '',
  readOnly: false,
  version: '',
  proofs: false,
  store: undefined,
});

/** Whether the last attempt reached the server. */
export const online: Signal<boolean> = signal(true);

const address = computed(() => config.value.server);
const key = computed(() => settings.value.key);

/** The client for the chosen server and key. */
export const client: ReadonlySignal<ConsoleClient> = computed(() =>
  createConsoleClient({
    server: address.value,
    key: key.value,
    onReached: (reached) => {
      online.value = reached;
    },
  }),
);

/** True: the console changes nothing. */
export const readOnly: ReadonlySignal<boolean> = computed(
  () => config.value.readOnly || settings.value.readOnly,
);

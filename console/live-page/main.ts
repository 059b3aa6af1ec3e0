import { createClient } from '../../src/client/index.ts';
import type { Client } from '../../src/client/index.ts';
import { EnergyDetector, energyLevel } from '../../src/live/models/cascaded/energy-detector.ts';
import { CallSocket } from './call-socket.ts';
import { Captions } from './captions.ts';
import { Microphone, MICROPHONE_RATE } from './microphone.ts';
import { Speaker } from './speaker.ts';
import './page.css';

/** How long playback waits for the server to confirm speech that this page has found. */
const CONFIRM_MS = 1_000;
/** The page is at `live/` below the base path of the server. */
const SERVER = new URL('../', document.baseURI);

const form = element('start', HTMLFormElement);
const keyField = element('key', HTMLInputElement);
const agentField = element('agent', HTMLSelectElement);
const callButton = element('call', HTMLButtonElement);
const hangUpButton = element('hang-up', HTMLButtonElement);
const state = element('state', HTMLElement);
const level = element('level', HTMLMeterElement);
const captions = new Captions(element('captions', HTMLElement));

function element<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.querySelector(`#${id}`);
  if (!(found instanceof type)) throw new Error(`The page has no #${id}.`);
  return found;
}

function openClient(): Client {
  const key = keyField.value;
  return createClient({
    baseUrl: SERVER.href.replace(/\/$/, ''),
    ...(key !== '' && { apiKey: key }),
  });
}

async function listAgents(): Promise<void> {
  try {
    const agents: HTMLOptionElement[] = [];
    for await (const { id, name } of openClient().agents.list()) agents.push(new Option(name, id));
    agentField.replaceChildren(...agents);
    state.textContent = 'Ready.';
  } catch (error) {
    showError(error);
  }
}

async function call(): Promise<void> {
  const { id } = await openClient().sessions.create({ agent: agentField.value });
  document.body.dataset['session'] = id;
  const url = new URL(`v1/sessions/${encodeURIComponent(id)}/live`, SERVER);
  url.protocol = url.protocol.replace('http', 'ws');
  const detector = new EnergyDetector(MICROPHONE_RATE);
  let cancelConfirm = (): void => {};
  let socket: CallSocket | undefined;
  const speaker = await Speaker.open(({ type, reply, playedMs }) => {
    if (type === 'played') socket?.played(reply, playedMs);
    else socket?.stopped(reply, playedMs);
  });
  const onEdge = (edge: 'started' | 'stopped'): void => {
    socket?.speech(edge);
    if (edge === 'stopped') return;
    // Playback stops at once. The server decides whether the reply is cut, or plays on.
    speaker.pause();
    document.body.dataset['bargedIn'] = '';
    const timer = setTimeout(() => speaker.resume(), CONFIRM_MS);
    cancelConfirm = () => clearTimeout(timer);
  };
  let microphone: Microphone;
  try {
    microphone = await Microphone.open((frame) => {
      level.value = Math.min(1, 4 * energyLevel(frame));
      const edge = detector.read(frame);
      if (edge !== undefined) onEdge(edge);
      socket?.sendAudio(frame);
    });
  } catch (error) {
    await speaker.close();
    throw error;
  }
  socket = new CallSocket({
    url: url.href,
    key: keyField.value,
    inputRate: microphone.sampleRate,
    onAudio: ({ reply, position, pcm, rate }) => speaker.play(reply, position, pcm, rate),
    onMessage: (message) => {
      switch (message.type) {
        case 'ready':
          state.textContent = 'Speak.';
          if (message.paused) speaker.pause();
          else speaker.resume();
          return;
        case 'pause':
          cancelConfirm();
          speaker.pause();
          return;
        case 'resume':
          cancelConfirm();
          speaker.resume();
          return;
        case 'flush':
          cancelConfirm();
          speaker.flush();
          captions.interrupt();
          return;
        case 'caption':
          captions.add(message.speaker, message.reply, message.text);
          return;
        default:
      }
    },
    onEnded: (problem) => {
      cancelConfirm();
      void Promise.all([microphone.close(), speaker.close()]).catch(showError);
      showCall(false);
      state.textContent = problem ?? 'The call is over.';
    },
  });
  const started = socket;
  hangUpButton.addEventListener('click', () => started.hangUp());
}

function showCall(isOn: boolean): void {
  callButton.hidden = isOn;
  hangUpButton.hidden = !isOn;
}

function showError(error: unknown): void {
  state.textContent = error instanceof Error ? error.message : String(error);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  showCall(true);
  state.textContent = 'Connecting …';
  call().catch((error: unknown) => {
    showCall(false);
    showError(error);
  });
});
keyField.addEventListener('change', () => void listAgents());
void listAgents();

/** The texts of a conversation, one element for each utterance and each reply. */
export class Captions {
  readonly #list: HTMLElement;
  #last: { readonly key: string; readonly element: HTMLElement } | undefined;

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Adds text in progress. */
  add(speaker: 'user' | 'agent', reply: string | null, text: string): void {
    const key = `${speaker} ${reply ?? ''}`;
    if (this.#last?.key !== key) {
      const element = document.createElement('li');
      element.dataset['speaker'] = speaker;
      this.#list.append(element);
      this.#last = { key, element };
    }
    this.#last.element.append(text);
    this.#last.element.scrollIntoView({ block: 'nearest' });
  }

  /** The last reply was cut. */
  interrupt(): void {
    const replies = this.#list.querySelectorAll<HTMLElement>('[data-speaker=agent]');
    const last = [...replies].at(-1);
    if (last !== undefined) last.dataset['interrupted'] = '';
  }
}

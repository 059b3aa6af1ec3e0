import { ScriptedModel } from 'petrichor/testing';

/** A model that needs no API key. */
export const demoModel = (): ScriptedModel =>
  new ScriptedModel(() => ({ text: 'Name an invoice, for example: Is invoice 7 paid?' }));

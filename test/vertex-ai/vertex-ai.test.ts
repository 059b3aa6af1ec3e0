/** The services of Vertex AI, and those of stock ADK, over the fake. One process loads Google's libraries for all. */

// Google's libraries read it.
process.env['GOOGLE_CLOUD_PROJECT'] = 'p1';

await import('./memory-bank-cases.ts');
await import('./session-service-cases.ts');
await import('./stock-service-cases.ts');

/** Measures one column of one peer in this process, and prints it as a line of JSON. */
import { columns, type ColumnName } from './columns.ts';
import { loadPeer } from './peers.ts';

const [peerName = '', column = '', mode] = process.argv.slice(2);
const { measure } = columns[column as ColumnName];
const measured = await measure(await loadPeer(peerName), { quick: mode === 'quick' });
// Some packages write to the standard output, so the figures have a line with a name.
console.log(`\nmeasured: ${JSON.stringify(measured)}`);
process.exit();

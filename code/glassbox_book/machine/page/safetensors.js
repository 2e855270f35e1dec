// Reads the file of weights as Python wrote it: a header in JSON, then the numbers of all tensors.

// A number in half precision has a sign, 5 bits of exponent and 10 of fraction. There are 65,536 of
// them, so each is worked out once.
const halves = Float32Array.from({ length: 65_536 }, (_, bits) => {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
});

const TRUNCATED = "the weights file is truncated";

function widen(bits) {
  const numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) numbers[i] = halves[bits[i]];
  return numbers;
}

// The rows of each tensor by its name: an array of Float32Arrays, of which a vector is one.
export function readTensors(buffer) {
  const size = buffer.byteLength < 8 ? Infinity : Number(new DataView(buffer).getBigUint64(0, true));
  if (8 + size > buffer.byteLength) throw new Error(TRUNCATED);
  const { __metadata__, ...header } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const ends = Object.values(header).map(({ data_offsets: [, end] }) => end);
  if (8 + size + Math.max(...ends) !== buffer.byteLength) throw new Error(TRUNCATED);
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets: [start, end] }] of Object.entries(header)) {
    const bytes = buffer.slice(8 + size + start, 8 + size + end);
    const numbers = dtype === "F16" ? widen(new Uint16Array(bytes)) : new Float32Array(bytes);
    const width = shape.at(-1);
    const rows = Array.from({ length: numbers.length / width }, (_, row) => numbers.subarray(row * width, (row + 1) * width));
    tensors[name] = shape.length === 1 ? rows[0] : rows;
  }
  return tensors;
}

import { malformed } from "./grpc";

/** Encodings of a field's value: a varint of one to ten bytes, a fixed size of eight or four bytes, or a length-prefixed value. */
export const wireTypes = { varint: 0, fixed64: 1, sized: 2, fixed32: 5 } as const;
/** Code of an encoding. */
export type WireType = (typeof wireTypes)[keyof typeof wireTypes];

/** Reads protobuf's wire format between two offsets; throws a CallFailure if a value extends past the end. */
export class Reader {
  #position: number;
  readonly #end: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#position = at;
    this.#end = end;
  }

  get done(): boolean {
    return this.#position >= this.#end;
  }

  /** Reads an integer. Integers above 2^53 are inexact; no field of the protocol requires them. */
  varint(): number {
    let value = 0;
    for (let scale = 1, size = 1; size <= 10; scale *= 128, size++) {
      if (this.#position >= this.#end) throw malformed("the message ends within a number");
      const byte = this.#bytes[this.#position++] ?? 0;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw malformed("a number has more than ten bytes");
  }

  double(): number {
    const start = this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  text(): string {
    const start = this.#advance(this.varint());
    return this.#bytes.toString("utf8", start, this.#position);
  }

  bytes(): Buffer {
    const start = this.#advance(this.varint());
    return this.#bytes.subarray(start, this.#position);
  }

  /** Returns a reader of the nested message at the current position. */
  nested(): Reader {
    const start = this.#advance(this.varint());
    return new Reader(this.#bytes, start, this.#position);
  }

  /** Skips the value of an unknown field. */
  skip(tag: number): void {
    const type = tag & 7;
    if (type === wireTypes.varint) this.varint();
    else if (type === wireTypes.fixed64) this.#advance(8);
    else if (type === wireTypes.sized) this.#advance(this.varint());
    else if (type === wireTypes.fixed32) this.#advance(4);
    else throw malformed(`a field has the unknown wire type ${type}`);
  }

  #advance(size: number): number {
    const start = this.#position;
    if (size > this.#end - start) throw malformed("the message ends within a field");
    this.#position = start + size;
    return start;
  }
}

/** Writes a message from its end to its beginning, so that each length is known before it is written. */
export class Writer {
  #bytes = Buffer.allocUnsafe(1024);
  #position = this.#bytes.length;

  /** Bytes written so far. */
  get size(): number {
    return this.#bytes.length - this.#position;
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#position);
  }

  varint(value: number): void {
    let size = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
    let at = this.#reserve(size);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes[at++] = (rest % 128) | 128;
    this.#bytes[at] = rest;
  }

  tag(field: number, type: WireType): void {
    this.varint(field * 8 + type);
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  /** Writes a string; a lone surrogate becomes the replacement character. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    const at = this.#reserve(size);
    this.#bytes.write(value, at, size, "utf8");
    this.varint(size);
  }

  bytes(value: Uint8Array): void {
    const at = this.#reserve(value.length);
    this.#bytes.set(value, at);
    this.varint(value.length);
  }

  /** Writes the number of bytes written since `size` was `before`. */
  length(before: number): void {
    this.varint(this.size - before);
  }

  #reserve(size: number): number {
    if (this.#position < size) {
      const used = this.size;
      const newBuffer = Buffer.allocUnsafe(2 * (used + size));
      this.#bytes.copy(newBuffer, newBuffer.length - used, this.#position);
      this.#bytes = newBuffer;
      this.#position = newBuffer.length - used;
    }
    this.#position -= size;
    return this.#position;
  }
}

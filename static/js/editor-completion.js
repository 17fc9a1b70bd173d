// What is offered while one types: columns above values above functions above keywords.

const KEYWORDS = [
  "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "AS", "AND", "OR", "NOT", "IN", "BETWEEN",
  "CASE", "WHEN", "THEN", "ELSE", "END", "IS NULL", "IS NOT NULL", "DISTINCT", "WITH", "JOIN", "ON",
];
const FUNCTIONS = ["COUNT", "SUM", "AVG", "MIN", "MAX", "COALESCE", "ROUND", "ABS", "CAST"];
const SCORE = { column: 1000, table: 900, value: 800, function: 400, keyword: 100 };

const offer = (value, kind, detail, extra = {}) => ({
  value,
  caption: value,
  meta: detail,
  score: SCORE[kind],
  ...extra,
});

// The column that a text literal is compared with: `region = 'Zu` or `region IN ('a', 'Zu`.
function comparedColumn(before) {
  const found = /([A-Za-z_]\w*)\s*(?:=|<>|!=|\bIN\s*\((?:\s*'[^']*'\s*,)*)\s*'[^']*$/i.exec(before);
  return found?.[1].toLowerCase() ?? null;
}

const isInText = (before) => (before.match(/'/g) ?? []).length % 2 === 1;

function textBefore(session, { row, column }) {
  const lines = session.getLines(0, row);
  lines[row] = lines[row].slice(0, column);
  return lines.join("\n");
}

// By editor: the quote whose list was closed with Escape. It stays closed until it is asked for.
const closed = new WeakMap();

const quoteIn = (before) => (isInText(before) ? before.lastIndexOf("'") : -1);

export function completerFor(part, words) {
  let asked = 0;
  return {
    identifierRegexps: [/[\w\u00a2-\uffff]/],
    // A quote opens the list of a domain's values.
    triggerCharacters: ["'"],
    async getCompletions(editor, session, position, prefix, give) {
      asked += 1;
      const mine = asked;
      const before = textBefore(session, position);
      if (!isInText(before)) return give(null, plainOffers(part, words));
      const found = await literalOffers(words, before);
      if (mine !== asked) return; // an answer that comes late is of an older text
      give(null, closed.get(editor) === quoteIn(before) ? [] : found);
    },
  };
}

// The server searches by all that stands between the quotes: ask again with each letter, whether
// or not a list is open. Ace opens none for a quote that is typed before it has closed the last.
export function followLiterals(editor) {
  let timer = 0;
  const quote = () => quoteIn(textBefore(editor.session, editor.getCursorPosition()));
  const follow = () => {
    const at = quote();
    if (at !== closed.get(editor)) closed.delete(editor);
    if (at === -1 || closed.has(editor) || !editor.isFocused()) return;
    if (editor.completer?.activated) editor.completer.updateCompletions(false);
    else editor.execCommand("startAutocomplete");
  };
  editor.commands.on("exec", ({ command }) => {
    if (command.name === "startAutocomplete") closed.delete(editor);
  });
  editor.commands.on("afterExec", ({ command }) => {
    if (!["insertstring", "backspace", "del"].includes(command.name)) return;
    clearTimeout(timer);
    timer = setTimeout(follow, 150);
  });
  const escaped = ({ key }) => {
    if (key !== "Escape" || !editor.completer?.activated) return;
    clearTimeout(timer);
    closed.set(editor, quote());
  };
  editor.container.addEventListener("keydown", escaped, true);
}

function plainOffers(part, words) {
  const rest = [
    ...FUNCTIONS.map((name) => offer(name, "function", "function")),
    ...KEYWORDS.map((word) => offer(word, "keyword", "keyword")),
  ];
  if (part === "server_sql") {
    const results = words.results().map((name) => offer(name, "column", "device_results"));
    return [...results, offer("device_results", "table", "table"), ...rest];
  }
  const offers = [];
  for (const stream of words.streams()) {
    offers.push(offer(stream.name, "table", "stream"));
    for (const column of stream.columns) {
      const detail = column.unit ? `${column.type}, ${column.unit}` : column.type;
      offers.push(offer(column.name, "column", detail, { docText: column.description }));
      if (column.type !== "text") continue;
      for (const value of column.values) {
        offers.push(offer(`'${value}'`, "value", column.name));
      }
    }
  }
  if (part === "sql") {
    for (const name of words.results()) offers.push(offer(name, "column", "inner query"));
  }
  return [...offers, ...rest];
}

async function literalOffers(words, before) {
  const name = comparedColumn(before);
  const typed = /'([^']*)$/.exec(before)?.[1] ?? "";
  for (const stream of words.streams()) {
    const column = stream.columns.find((each) => each.name === name);
    if (!column?.size) continue;
    const search = (text) => words.search(stream.name, column.name, text);
    const values = column.values.length
      ? column.values.map((value) => ({ value: String(value), label: "", detail: "" }))
      : await search(typed);
    return values.map((each, place) => literal(each, { typed, column: column.name, place, search }));
  }
  return [];
}

function literal({ value, label, detail }, { typed, column, place, search }) {
  const caption = label ? `${label}${detail ? `, ${detail}` : ""}` : value;
  return {
    caption,
    meta: label ? value : column,
    score: SCORE.value - place,
    skipFilter: Boolean(label), // the server has matched it, in any spelling
    completer: {
      async insertMatch(editor) {
        const inside = textInside(editor);
        if (inside === null) return;
        if (label && inside !== typed) {
          // Letters typed since the server was asked: is this still what is meant?
          const offered = await search(inside);
          if (textInside(editor) !== inside) return;
          if (!offered.some((each) => each.value === value)) {
            return editor.execCommand("startAutocomplete");
          }
        }
        putInside(editor, inside, value);
      },
    },
  };
}

// What stands between the quote and the cursor; null where no text is open.
function textInside(editor) {
  const { row, column } = editor.getCursorPosition();
  return /'([^']*)$/.exec(editor.session.getLine(row).slice(0, column))?.[1] ?? null;
}

// The whole of what was typed inside the quotes gives way, words with spaces too.
function putInside(editor, inside, value) {
  const { row, column: end } = editor.getCursorPosition();
  const start = end - inside.length;
  editor.completer?.detach();
  editor.session.replace({ start: { row, column: start }, end: { row, column: end } }, value);
  if (editor.session.getLine(row).charAt(start + value.length) === "'") editor.navigateRight();
  else editor.insert("'");
}

// The editor of SQL: CodeMirror with the keywords of SQL, and completion that puts columns and tables first.
// `make editor` bundles it into ../static/editor.js. Colours are the page's: custom properties reach in here.
import { autocompletion, closeBrackets, closeBracketsKeymap, completeFromList, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLite, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--faint)", borderRadius: "4px", fontSize: "14px", width: "100%" },
  "&.cm-focused": { outline: "3px solid var(--link)", outlineOffset: "1px" },
  ".cm-content": { minHeight: "5.5em", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", maxHeight: "14em", overflow: "auto" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxHeight: "none" }, // it never scrolls: no keyboard could
  ".cm-tooltip": { background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--faint)" },
  ".cm-completionDetail": { color: "var(--faint)" },
  ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "inherit" },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
]);

const USUAL = /^(select|from|where|group|order|by|having|limit|join|left|on|as|and|or|not|in|is|null|like|between|exists|case|when|then|else|end|union|distinct|with|count|sum|avg|min|max|cast|coalesce|round)$/i;

// Put an editor into an element's shadow tree, where its styles need no exception from the page's rules.
// options: label, tables ([{name, columns: [{name, type}]}]), words (others that are completed), length (most
// characters), onChange(), onSend().
window.makeEditor = (host, options) => {
  const root = host.attachShadow({ mode: "open" });
  const column = ({ name, type }) => ({ label: name, type: "property", detail: type, boost: 60 });
  const columns = new Map(options.tables.flatMap((table) => table.columns.map((each) => [each.name, column(each)])));
  const others = options.words.filter((word) => !columns.has(word)).map((label) => ({ label, type: "text", boost: 10 }));
  const schema = Object.fromEntries(options.tables.map(({ name, columns: own }) => [name, { self: { label: name, type: "type", detail: "table", boost: 50 }, children: own.map(column) }]));
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      extensions: [
        keymap.of([{ key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => (options.onSend(), true) }]),
        keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        history(),
        closeBrackets(),
        bracketMatching(),
        autocompletion({ icons: false, maxRenderedOptions: 8 }),
        sql({ dialect: SQLite, schema, keywordCompletion: (label, type) => ({ label, type, boost: USUAL.test(label) ? 0 : -50 }) }),
        SQLite.language.data.of({ autocomplete: completeFromList([...columns.values(), ...others]) }),
        syntaxHighlighting(colours),
        EditorState.changeFilter.of((change) => change.newDoc.length <= options.length),
        EditorView.contentAttributes.of({ "aria-label": options.label }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => update.docChanged && options.onChange()),
        placeholder(options.label),
        theme,
      ],
    }),
  });
  return { text: () => view.state.doc.toString(), focus: () => view.focus() };
};

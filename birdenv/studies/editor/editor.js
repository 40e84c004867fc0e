// The editor of SQL: CodeMirror with the keywords of SQL, and completion of the words that the seat was told.
// `make editor` bundles it into ../static/editor.js.
import { autocompletion, closeBrackets, closeBracketsKeymap, completeFromList, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { SQLite, sql } from "@codemirror/lang-sql";
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";

const theme = EditorView.theme({
  "&": { background: "#fff", border: "1px solid #8c959f", borderRadius: "3px", fontSize: "14px", width: "100%" },
  ".cm-content, .cm-gutter": { minHeight: "8em" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", maxHeight: "20em", overflow: "auto" },
});

// Put an editor into an element's shadow tree, where its styles need no exception from the page's rules.
// options: label, words (completed), length (most characters), onChange(), onSend().
window.makeEditor = (host, options) => {
  const root = host.attachShadow({ mode: "open" });
  const words = completeFromList(options.words.map((label) => ({ label, type: "variable" })));
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
        autocompletion(),
        sql({ dialect: SQLite }),
        SQLite.language.data.of({ autocomplete: words }),
        syntaxHighlighting(defaultHighlightStyle),
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

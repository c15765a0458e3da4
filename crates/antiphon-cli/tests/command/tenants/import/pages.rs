//! `antiphon import` of the pages of the API's list of items.

use super::*;

fn page(items: &[&Value], has_more: bool) -> Value {
    json!({"object": "list", "data": items, "first_id": id(items[0]),
           "last_id": id(items[items.len() - 1]), "has_more": has_more})
}

/// Asserts that the import of these pages, each in a file `p0`, `p1`, and so on, stores nothing.
fn refused(pages: &[&Value], sentence: &str) {
    let kept = Kept::new();
    let files = pages.iter().enumerate();
    let files = files.map(|(at, page)| file(&kept.folder, &format!("p{at}"), &page.to_string()));
    let files: Vec<PathBuf> = files.collect();
    let others: Vec<&str> = files[1..].iter().map(|path| path.to_str().unwrap()).collect();
    let ended = import(&kept.url(), &files[0], &others);
    let folder = format!("{}/", kept.folder.path().display());
    let stderr = ended.stderr.replace(&folder, "");
    assert_eq!((ended.code, stderr), (Some(2), format!("error: {sentence}\n")));
    assert_eq!(antiphon(&kept.url(), &["tenants"]).stdout, "");
}

/// The API lists the newest item first unless the request says otherwise.
#[test]
fn pages_of_the_api_become_one_conversation_in_order() {
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
                      "arguments": "{}"});
    let output = json!({"type": "function_call_output", "id": "fco_1", "call_id": "call_1",
                        "output": "1"});
    let items = [message("msg_1", "one"), call, output, message("msg_2", "two")];
    let ascending = [page(&[&items[0], &items[1]], true), page(&[&items[2], &items[3]], false)];
    let descending = [page(&[&items[3], &items[2], &items[1]], true), page(&[&items[0]], false)];
    for (pages, newest_first) in [(ascending, false), (descending, true)] {
        let kept = Kept::new();
        let text = format!("{:#}\n{}", pages[0], pages[1]);
        let one_file = file(&kept.folder, "pages.json", &text);
        let imported = report(&import(&kept.url(), &one_file, &[]), 0);
        assert_eq!(imported["newest_first"], newest_first);
        assert_eq!(contents(&kept.url()), items);

        let kept = Kept::new();
        let first = file(&kept.folder, "1.json", &pages[0].to_string());
        let second = file(&kept.folder, "2.json", &pages[1].to_string());
        report(&import(&kept.url(), &first, &[second.to_str().unwrap()]), 0);
        assert_eq!(contents(&kept.url()), items);
    }
}

#[test]
fn order_option_overrides_the_order_of_pages() {
    let kept = Kept::new();
    let list = json!({"object": "list", "data": [message("msg_2", "two"), message("msg_1", "one")],
                      "has_more": false});
    let page = file(&kept.folder, "page.json", &list.to_string());

    report(&import(&kept.url(), &page, &["--order", "desc"]), 0);

    assert_eq!(contents(&kept.url()), [message("msg_1", "one"), message("msg_2", "two")]);
}

#[test]
fn list_without_its_last_page_is_refused() {
    let (one, two) = (message("msg_1", "one"), message("msg_2", "two"));
    let sentence = "p0:1: the list has more items than this file ('has_more' is true in the last \
                    page); give the next pages too, from ?after=msg_2 on, or import only these \
                    items: the array in 'data'";
    refused(&[&page(&[&one, &two], true)], sentence);
}

#[test]
fn pages_in_another_order_are_refused() {
    let items = ["one", "two", "three"].map(|text| message(&format!("msg_{text}"), text));
    let [one, two, three] = items.each_ref().map(|item| page(&[item], true));
    let last = page(&[&items[2]], false);
    let sentence = "p0:1: this page is the last of its list ('has_more' is false), but another \
                    page follows it; give the pages in the order in which the API lists them, or \
                    the items of several lists as one array";
    refused(&[&last, &one], sentence);
    let missing = "p2:1: the list has more items than this file ('has_more' is true in the last \
                   page); give the next pages too, from ?after=msg_two on, or import only these \
                   items: the array in 'data'";
    refused(&[&one, &three, &two], missing);
}

/// A page whose items were reversed, beside one with the order of the API.
#[test]
fn pages_in_two_orders_are_refused() {
    let items = ["one", "two", "three"].map(|text| message(&format!("msg_{text}"), text));
    let mut reversed = page(&[&items[2], &items[1]], true);
    reversed["data"].as_array_mut().unwrap().reverse();
    let sentence = "p0:1: the items of this page are not in the order of the API ('first_id' and \
                    'last_id' name others); give the pages as the API sent them";
    refused(&[&reversed, &page(&[&items[0]], false)], sentence);
}
